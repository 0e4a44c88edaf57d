"""Takes the figures of `make bench` inside the session that scripts/bench has started, and prints the table.

usage: bench.py PROGRAMS FLOORS VECTORS ROUNDS; the environment is the session's. BENCH_ONLY names the parts to take (opening,
accepting, activation, round_trips, broadcast, memory, full_store, parser), BENCH_ROUNDS how often (5 to 50).
"""

import json
import os
import statistics
import subprocess
import urllib.request

from full_store import full_store
from measure import (APP, ECHO, EMULATOR, FLOORS, FOREIGN, KNOWN, LINKD, PROGRAMS, ROUNDS, SESSION, TOKEN, VECTORS, floor,
                     linkctl, median, row, rows, say, sign_in, split, stop_linkd, wait)
from memory import memory


def emulator(method, path, body=None):
    """A request to the emulator's control paths; its answer as JSON."""
    request = urllib.request.Request(
        f"http://{EMULATOR}/emulator/v1/projects/demo-linkd/{path}", method=method,
        data=None if body is None else json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=10) as answer:
        text = answer.read()
    return json.loads(text) if text else {}


def commits(count, pause=0):
    """Milliseconds of durable commits of one row each, so many milliseconds apart."""
    return [float(line[0]) / 1e3 for line in floor("commit", SESSION + "/floor.db", count, pause)]


def opening():
    say("linkctl, exec to exit")
    sign_in()
    linkctl("open", "--no-wait", KNOWN)
    ours = os.path.join(PROGRAMS, "linkctl")
    command = {
        "oneshot": [os.path.join(FLOORS, "oneshot")],
        "known": [ours, "open", "--no-wait", KNOWN],
        "foreign": [ours, "open", "--no-wait", FOREIGN],
        "token": [ours, "token", "--app", "demo"],
    }
    names, samples, commit, codes = list(command), {}, [], set()
    chunk = ROUNDS // 5
    # Each chunk begins with a run that isn't counted: it takes one of the minute's foreign links too.
    for _ in range(5):
        lines = floor("runner", chunk - 1, *sum(([*command[name], ":"] for name in names), [])[:-1])
        for index, times in split(lines).items():
            samples.setdefault(names[index], []).extend(times)
        codes |= {(names[int(line[0])], int(line[2])) for line in lines}
        commit += commits(chunk)
    for name, code in sorted(codes - {("oneshot", 0), ("known", 0), ("foreign", 3), ("token", 0)}):
        say(f"  unexpected: {name} ended with {code}")
    middle = {name: statistics.median(times) / 1e3 for name, times in samples.items()}
    start, durable = middle["oneshot"], statistics.median(commit)
    say(f"  an empty client {start:.2f} ms, a durable commit {durable:.2f} ms")
    row("linkctl open, known link / client + commit", start + durable, middle["known"], "ms", 1.5)
    row("linkctl open, foreign URL / client", start, middle["foreign"], "ms", 1.5)
    row("linkctl token, cached / client", start, middle["token"], "ms", 1.5)


def accepting():
    say("a link is accepted: its row and code are stored before the answer")
    count = max(10, ROUNDS // 2)
    for number in range(count):
        linkctl("sign-in", "email-link", f"bench{number}@example.com", "--app", "demo", "--no-wait", check=True)
    codes = lambda: [one for one in emulator("GET", "oobCodes")["oobCodes"] if one["email"].startswith("bench")]
    wait("the mails", lambda: len(codes()) == count)
    links = [one["oobLink"] + "\n" for one in codes()]
    judged, opened, commit = [], [], []
    # In turn, since what the disk has to do changes from one second to the next. Each call is its connection's first.
    for link in links:
        judged += floor("pace", 50, *LINKD, "CanHandle", "s=-", "o", lines=link)
        opened += floor("pace", 50, *LINKD, "Open", "s=-", "o", lines=link)
        commit += commits(1, 50)
    bare, whole, durable = median(judged), median(opened), statistics.median(commit)
    say(f"  the bare call {bare:.2f} ms, the accepting one {whole:.2f} ms")
    row("a link accepted, over the bare call / commit", durable, whole - bare, "ms", 1.3)


def activation():
    say("D-Bus activation to the first reply")
    samples = split(floor("activate", min(ROUNDS, 30), *ECHO, "Echo", "s=hi", ":", *LINKD, "CanHandle", "s=" + FOREIGN, "o"))
    row("activation to the first reply", *(statistics.median(samples[i]) / 1e3 for i in (0, 1)), "ms", 2.5)


def turns(cases):
    """Microseconds of each round trip, a few hundred of each at a time."""
    samples = {name: [] for name in cases}
    for _ in range(8):
        for name, words in cases.items():
            samples[name] += [float(line[0]) for line in floor("rtt", 10 * ROUNDS, *words)[:-1]]
    return {name: statistics.median(times) for name, times in samples.items()}


def round_trips():
    say("GetIdToken, cached")
    sign_in()
    size = lambda lines: int(lines[-1][1])
    length = size(floor("rtt", 1, *TOKEN, "o")) - size(floor("rtt", 1, *ECHO, "Give", "u=0"))
    say(f"  the reply is {length} bytes longer than an empty one")
    token = {"floor": [*ECHO, "Give", f"u={length}"], "ours": [*TOKEN, "o"]}
    alone = turns({**token, "judge": [*LINKD, "CanHandle", "s=" + FOREIGN, "o"], "echo": [*ECHO, "Echo", "s=" + FOREIGN]})
    row("GetIdToken, cached", alone["floor"], alone["ours"], "µs", 1.5)
    # A refresh that gets no answer; the session has a token for long enough.
    emulator("POST", "faults", {"path": "v1/token", "hang": True})
    background = subprocess.Popen(
        [os.path.join(PROGRAMS, "linkctl"), "token", "--app", "demo", "--force-refresh"], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    try:
        hanging = turns(token)
        if background.poll() is not None:
            say("  the request didn't hang")
    finally:
        background.kill()
        background.wait()
        emulator("DELETE", "faults")
    row("GetIdToken, cached, while a request hangs", hanging["floor"], hanging["ours"], "µs", 1.5)
    stop_linkd()
    sign_in()
    # Each refresh is a request, a commit and a new token: some twenty of them a second.
    background = subprocess.Popen(
        [os.path.join(FLOORS, "pace"), "40", *TOKEN, "o=force-refresh"], stdout=subprocess.DEVNULL)
    try:
        busy = turns(token)
        if background.poll() is not None:
            say("  the refreshes have failed")
    finally:
        background.kill()
        background.wait()
    row("GetIdToken, cached, while commits run", busy["floor"], busy["ours"], "µs", 1.5)
    row("CanHandle, foreign URL", alone["echo"], alone["judge"], "µs")


def broadcast():
    rounds = min(ROUNDS, 20)
    echo = ["/", "org.example.Echo", "Happened", *ECHO, "Emit"]
    unhandled = [*LINKD[1:], "Unhandled", *LINKD, "Open", "s=com.example.linkd://elsewhere", "o"]
    # The session goes to `authenticating`, where it stays, since the server doesn't answer; and back before the next time.
    state = [APP[1], "org.linkd.Auth1.Session", "StateChanged", *APP, "org.linkd.Auth1.SignIn", "SignInAnonymously", "o", ":",
             *APP, "org.linkd.Auth1.Session", "SignOut", "o"]
    emulator("POST", "faults", {"path": "accounts:signUp", "hang": True})
    for subscribers in (100, 1000):
        say(f"signals to {subscribers:,} subscribers")
        samples = {"floor": [], "unhandled": [], "state": []}
        stop_linkd()
        for _ in range(2):
            samples["floor"] += floor("fanout", subscribers, rounds, *echo)
            samples["unhandled"] += floor("fanout", subscribers, rounds, *unhandled)
            samples["state"] += floor("fanout", subscribers, max(5, rounds // 2), *state)
        stop_linkd()
        to = f"{subscribers:,} subscribers"
        row(f"signal to {to}, call to last", median(samples["floor"]), median(samples["unhandled"]), "ms", 1.1)
        # The flow behind it is durable before it is told: that isn't part of telling it.
        row(f"state change to {to}, first to last", median(samples["floor"], 1), median(samples["state"], 1), "ms", 1.1)
    emulator("DELETE", "faults")


def parser():
    say("links a second")
    command = [os.path.join(PROGRAMS, "parser-benchmark"), VECTORS]
    lines = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    goals = {"foreign": 1_000_000, "mixed": 150_000}
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
    for part in (opening, accepting, activation, round_trips, broadcast, memory, full_store, parser):
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
