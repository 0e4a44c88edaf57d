"""Takes the figures of `make bench` inside the session that scripts/bench has started, and prints the table.

usage: bench.py PROGRAMS FLOORS VECTORS ROUNDS; the environment is the session's. BENCH_ONLY names the parts to take (opening,
activation, round_trips, broadcast, memory, parser), BENCH_ROUNDS how often (5 to 50).
"""

import os
import statistics
import subprocess
import sys
import time

from tls_front import TLSFront

PROGRAMS, FLOORS, VECTORS = sys.argv[1:4]
ROUNDS = max(5, min(int(sys.argv[4]), 50))  # linkd takes 60 foreign links a minute.
SESSION, EMULATOR = os.environ["SESSION"], os.environ["EMULATOR"]

LINKD = ["org.linkd.Auth1", "/org/linkd/Auth1", "org.linkd.Auth1.Links"]
ECHO = ["org.example.Echo", "/", "org.example.Echo"]
FOREIGN = "https://www.example.org/articles/42?utm_source=newsletter"
KNOWN = (
    "https://demo-linkd.firebaseapp.com/__/auth/action?apiKey=AIzaEXAMPLEKEY0000&mode=signIn"
    "&oobCode=benchmark-code-0000000000000000&lang=en"
)

rows = []


def say(text):
    print(text, file=sys.stderr, flush=True)


def floor(program, *words):
    """The lines that one of the C programs prints, split into words."""
    command = [os.path.join(FLOORS, program), *map(str, words)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines()]


def linkctl(*words, check=False):
    return subprocess.run(
        [os.path.join(PROGRAMS, "linkctl"), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=check)


def has_owner(name):
    command = ["dbus-send", "--session", "--print-reply=literal", "--dest=org.freedesktop.DBus", "/",
               "org.freedesktop.DBus.NameHasOwner", "string:" + name]
    return "true" in subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def wait(what, condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.02)


def stop_linkd():
    """Ends the daemon on the bus: limits and caches begin anew."""
    floor("activate", 0, *LINKD, "CanHandle", "s=" + FOREIGN, "o")


def row(what, base, ours, unit, goal, ratio=True):
    rows.append((what, f"{base:,.2f} {unit}" if base else "-", f"{ours:,.2f} {unit}" if unit else f"{ours:,.0f}",
                 f"{ours / base:.2f}" if base and ratio else "-", goal))


def split(lines):
    """Samples of interleaved commands, by index."""
    out = {}
    for line in lines:
        out.setdefault(int(line[0]), []).append(float(line[1]))
    return out


def opening():
    say("linkctl open, exec to exit")
    linkctl("open", "--no-wait", KNOWN)
    commands = ["oneshot", "known", "foreign"]
    command = {
        "oneshot": [os.path.join(FLOORS, "oneshot")],
        "known": [os.path.join(PROGRAMS, "linkctl"), "open", "--no-wait", KNOWN],
        "foreign": [os.path.join(PROGRAMS, "linkctl"), "open", "--no-wait", FOREIGN],
    }
    samples, commits, codes = {}, [], set()
    chunk = ROUNDS // 5
    # Each chunk begins with a run that isn't counted: it takes one of the minute's foreign links too.
    for _ in range(5):
        lines = floor("runner", chunk - 1, *sum(([*command[name], ":"] for name in commands), [])[:-1])
        for index, times in split(lines).items():
            samples.setdefault(commands[index], []).extend(times)
        codes |= {(commands[int(line[0])], int(line[2])) for line in lines}
        commits += [float(line[0]) for line in floor("commit", SESSION + "/floor.db", chunk)]
    for name, code in sorted(codes - {("oneshot", 0), ("known", 0), ("foreign", 3)}):
        say(f"  unexpected: {name} ended with {code}")
    start = statistics.median(samples["oneshot"]) / 1e3
    commit = statistics.median(commits) / 1e3
    known, foreign = (statistics.median(samples[name]) / 1e3 for name in ("known", "foreign"))
    say(f"  an empty client {start:.2f} ms, a durable commit {commit:.2f} ms")
    row("linkctl open, known link / client + commit", start + commit, known, "ms", "≤ 1.5")
    row("linkctl open, foreign URL / client + commit", start + commit, foreign, "ms", "≤ 1.5")
    row("linkctl open, foreign URL / client alone", start, foreign, "ms", "")


def activation():
    say("D-Bus activation to the first reply")
    samples = split(floor("activate", min(ROUNDS, 30), *ECHO, "Echo", "s=hi", ":", *LINKD, "CanHandle", "s=" + FOREIGN, "o"))
    row("activation to the first reply", *(statistics.median(samples[i]) / 1e3 for i in (0, 1)), "ms", "≤ 2.5")


def round_trips():
    say("GetIdToken, cached")
    linkctl("sign-in", "anonymous", "--app", "demo", check=True)
    linkctl("token", "--app", "demo", check=True)
    token = ["org.linkd.Auth1", "/org/linkd/Auth1/app/demo", "org.linkd.Auth1.Session", "GetIdToken", "o"]
    size = lambda lines: int(lines[-1][1])
    length = size(floor("rtt", 1, *token)) - size(floor("rtt", 1, *ECHO, "Give", "u=0"))
    cases = {"floor": [*ECHO, "Give", f"u={length}"], "token": token,
             "judge": [*LINKD, "CanHandle", "s=" + FOREIGN, "o"], "echo": [*ECHO, "Echo", "s=" + FOREIGN]}
    samples = {name: [] for name in cases}
    for _ in range(8):
        for name, words in cases.items():
            samples[name] += [float(line[0]) for line in floor("rtt", 10 * ROUNDS, *words)[:-1]]
    median = {name: statistics.median(times) for name, times in samples.items()}
    say(f"  the reply is {length} bytes longer than an empty one")
    row("GetIdToken, cached, round trip", median["floor"], median["token"], "µs", "≤ 1.5")
    row("CanHandle, foreign URL, round trip", median["echo"], median["judge"], "µs", "")


def broadcast():
    say("a signal to 100 subscribers")
    rounds = min(ROUNDS, 20)
    cases = {"floor": ["org.example.Echo", "Happened", *ECHO, "Emit"],
             "linkd": ["org.linkd.Auth1.Links", "Unhandled", *LINKD, "Open", "s=com.example.linkd://elsewhere", "o"]}
    samples = {name: [] for name in cases}
    stop_linkd()
    for _ in range(2):
        for name, words in cases.items():
            samples[name] += [float(line[0]) for line in floor("fanout", 100, rounds, *words)]
    stop_linkd()
    row("signal to 100 subscribers, the last one", *(statistics.median(samples[n]) / 1e3 for n in ("floor", "linkd")), "ms", "")


def pss(process):
    """MB that the process has for itself, shared pages by their share."""
    with open(f"/proc/{process}/smaps_rollup") as file:
        for line in file:
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024 / 1e6
    raise ProcessLookupError


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
    median = {keep: [statistics.median(column) for column in zip(*lives[keep])] for keep in lives}
    row("PSS before the first HTTPS request", base, median[False][0], "MB", "≤ 5 MB")
    row("PSS right after it", base, median[False][1], "MB", "")
    row("PSS after it, idle", base, median[False][2], "MB", "≤ 8 MB")
    row("PSS before, without the page drop", base, median[True][0], "MB", "")
    row("PSS after, idle, without the page drop", base, median[True][2], "MB", "")


def parser():
    say("links a second")
    command = [os.path.join(PROGRAMS, "parser-benchmark"), VECTORS]
    lines = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    goals = {"foreign": "≥ 1,000,000", "mixed": "≥ 150,000"}
    for name, rate, links, size in (line.split() for line in lines):
        row(f"parser: {name} links/s ({links} of {size} bytes)", None, int(rate), "", goals[name])


def table():
    head = ("what", "floor", "linkd", "ratio", "goal")
    widths = [max(len(line[i]) for line in [head, *rows]) for i in range(5)]
    line = lambda cells: "  ".join(
        cell.ljust(width) if i in (0, 4) else cell.rjust(width) for i, (cell, width) in enumerate(zip(cells, widths))).rstrip()
    print("\n" + line(head))
    print("  ".join("-" * width for width in widths))
    for cells in rows:
        print(line(cells))
    print(f"\nMedians of one run, floors and linkd in turn; {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}.")


def main():
    chosen = os.environ.get("BENCH_ONLY", "").split()
    for part in (opening, activation, round_trips, broadcast, memory, parser):
        if chosen and part.__name__ not in chosen:
            continue
        try:
            part()
        # A figure that can't be taken is said and leaves the others.
        except (OSError, subprocess.SubprocessError, TimeoutError, statistics.StatisticsError, KeyError) as error:
            say(f"  not measured: {error}")
            rows.append((part.__name__, "-", "not measured", "-", ""))
    table()


main()
