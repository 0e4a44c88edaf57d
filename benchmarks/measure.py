"""What every part of the benchmark needs: the session's names, the C floors, and the rows of the table."""

import os
import statistics
import subprocess
import sys
import time

PROGRAMS, FLOORS, VECTORS = sys.argv[1:4]
ROUNDS = max(5, min(int(sys.argv[4]), 50))  # linkd takes 60 foreign links a minute.
SESSION, EMULATOR = os.environ["SESSION"], os.environ["EMULATOR"]

LINKD = ["org.linkd.Auth1", "/org/linkd/Auth1", "org.linkd.Auth1.Links"]
APP = ["org.linkd.Auth1", "/org/linkd/Auth1/app/demo"]
TOKEN = [*APP, "org.linkd.Auth1.Session", "GetIdToken"]
ECHO = ["org.example.Echo", "/", "org.example.Echo"]
FOREIGN = "https://www.example.org/articles/42?utm_source=newsletter"
KNOWN = (
    "https://demo-linkd.firebaseapp.com/__/auth/action?apiKey=AIzaEXAMPLEKEY0000&mode=signIn"
    "&oobCode=benchmark-code-0000000000000000&lang=en"
)

rows = []


def say(text):
    print(text, file=sys.stderr, flush=True)


def row(what, base, ours, unit, goal=None):
    """A line of the table. `goal` is a greatest ratio, an int that the figure must reach, or a text about the figure itself;
    without a base there is no ratio."""
    ratio = ours / base if base else None
    if isinstance(goal, int):
        goal = f"≥ {goal:,}" + ("" if ours >= goal else "  missed")
    if isinstance(goal, float):
        goal = f"≤ {goal:g}" + ("" if ratio <= goal else "  missed")
    rows.append((what, f"{base:,.2f} {unit}" if base else "-", f"{ours:,.2f} {unit}" if unit else f"{ours:,.0f}",
                 f"{ratio:.2f}" if ratio else "-", goal or ""))


def floor(program, *words, lines=None):
    """The lines that one of the C programs prints, split into words; `lines` is its input."""
    command = [os.path.join(FLOORS, program), *map(str, words)]
    done = subprocess.run(command, input=lines, stdin=None if lines else subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          check=True)
    return [line.split() for line in done.stdout.splitlines()]


def median(lines, column=0):
    """The median of one column of what a floor has printed, in milliseconds."""
    return statistics.median(float(line[column]) for line in lines) / 1e3


def split(lines):
    """Samples of interleaved commands, by index."""
    out = {}
    for line in lines:
        out.setdefault(int(line[0]), []).append(float(line[1]))
    return out


def linkctl(*words, check=False):
    return subprocess.run(
        [os.path.join(PROGRAMS, "linkctl"), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=check)


def bus(method, *arguments):
    command = ["dbus-send", "--session", "--print-reply=literal", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus",
               "org.freedesktop.DBus." + method, *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split()


def has_owner(name):
    return "true" in bus("NameHasOwner", "string:" + name)


def process_of(name):
    return int(bus("GetConnectionUnixProcessID", "string:" + name)[-1])


def wait(what, condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.02)


def stop_linkd():
    """Ends the daemon on the bus: limits and caches begin anew."""
    floor("activate", 0, *LINKD, "CanHandle", "s=" + FOREIGN, "o")


def sign_in():
    """A guest in the app, and a token in the daemon's hands."""
    linkctl("sign-in", "anonymous", "--app", "demo", check=True)
    linkctl("token", "--app", "demo", check=True)


def pss(process):
    """MB that the process has for itself, shared pages by their share."""
    with open(f"/proc/{process}/smaps_rollup") as file:
        for line in file:
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024 / 1e6
    raise ProcessLookupError
