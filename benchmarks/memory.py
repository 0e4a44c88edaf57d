"""The memory of an idle linkd, before and after its first HTTPS request."""

import os
import statistics
import subprocess
import time

from measure import ECHO, EMULATOR, FLOORS, FOREIGN, PROGRAMS, SESSION, has_owner, linkctl, pss, row, say, stop_linkd, wait
from tls_front import TLSFront


class Service:
    """A service started by hand, so that its environment can be another one."""

    def __init__(self, name, command, **environment):
        self.process = subprocess.Popen(
            command, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait(name, lambda: has_owner(name))
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def readings(service, seconds):
    """PSS ten times a second, until the process ends by itself or the time is over."""
    out, end = [], time.monotonic() + seconds
    while time.monotonic() < end and service.process.poll() is None:
        try:
            out.append(pss(service.pid))
        except (OSError, ProcessLookupError):
            break
        time.sleep(0.1)
    return out


def one_life(front, keep):
    """PSS before the first request, right after it, and idle thereafter."""
    idle = 7
    environment = {**front.environment, "LINKD_IDLE_EXIT": str(idle)}
    if keep:
        environment["LD_PRELOAD"] = os.path.join(FLOORS, "keep-pages.so")
    with Service("org.linkd.Auth1", [os.path.join(PROGRAMS, "linkd")], **environment) as service:
        linkctl("can-handle", FOREIGN)
        before = statistics.median(readings(service, 3)[-10:])
        answered = front.answered
        done = linkctl("sign-in", "anonymous", "--app", "live")
        if front.answered == answered:
            say(f"  no HTTPS request was made: {done.stderr.strip()}")
        after = pss(service.pid)
        # The daemon's check drops the pages after so many seconds; a while later it ends.
        later = readings(service, 2 * idle)
        dropped = [value for value in later if value <= (min(later) + max(later)) / 2] or [after]
        idle_after = statistics.median(later if keep else dropped)
    linkctl("sign-out", "--app", "live")
    stop_linkd()
    return before, after, idle_after


def memory():
    say("PSS, idle")
    with Service(ECHO[0] + ".Idle", [os.path.join(FLOORS, "echo"), ECHO[0] + ".Idle"]) as echo:
        time.sleep(0.5)
        base = pss(echo.pid)
    stop_linkd()
    with TLSFront(SESSION, EMULATOR) as front:
        lives = {keep: [one_life(front, keep) for _ in range(1 if keep else 3)] for keep in (False, True)}
    middle = {keep: [statistics.median(column) for column in zip(*lives[keep])] for keep in lives}
    row("PSS before the first HTTPS request", base, middle[False][0], "MB", "≤ 5 MB")
    row("PSS right after it", base, middle[False][1], "MB")
    row("PSS after it, idle", base, middle[False][2], "MB", "≤ 8 MB")
    row("PSS before, without the page drop", base, middle[True][0], "MB")
    row("PSS after, idle, without the page drop", base, middle[True][2], "MB")
