"""Medians, in microseconds, of calls to the linkd of each bus, taken in turn so that the machine's moods even out.

usage: timing.py ROUNDS KNOWN-LINK BUS [KNOWN-LINK BUS]…; prints a line a kind of call: its name and a number for each bus.
"""

import statistics
import sys
import time

import dbus
import dbus.bus

rounds = int(sys.argv[1])
sessions = [(link, dbus.bus.BusConnection(bus)) for link, bus in zip(sys.argv[2::2], sys.argv[3::2])]
NONE = dbus.Dictionary(signature="sv")
FOREIGN = "https://www.example.org/articles/42?utm_source=newsletter"
LINKS, SESSION = "org.linkd.Auth1.Links", "org.linkd.Auth1.Session"


def call(bus, path, interface, member, *arguments):
    return bus.call_blocking("org.linkd.Auth1", path, interface, member, None, (*arguments, NONE), timeout=60)


calls = {
    "CanHandle-foreign": lambda link, bus: call(bus, "/org/linkd/Auth1", LINKS, "CanHandle", FOREIGN),
    "CanHandle-known": lambda link, bus: call(bus, "/org/linkd/Auth1", LINKS, "CanHandle", link),
    "Open-known": lambda link, bus: call(bus, "/org/linkd/Auth1", LINKS, "Open", link),
    "GetIdToken": lambda link, bus: call(bus, "/org/linkd/Auth1/app/demo", SESSION, "GetIdToken"),
}
for name, work in calls.items():
    times = [[] for _ in sessions]
    for _ in range(rounds):
        for place, (link, bus) in enumerate(sessions):
            start = time.perf_counter()
            work(link, bus)
            times[place].append((time.perf_counter() - start) * 1e6)
    print(name, *(f"{statistics.median(place):.1f}" for place in times))
