"""Calls GetIdToken COUNT times at once over CONNECTIONS connections, and prints what came back.

usage: callers.py CONNECTIONS COUNT; prints `sent` once all calls are on their way, then one line a different answer: how often,
and the token or the error's name.
"""

import collections
import sys

import dbus
import dbus.mainloop.glib
from gi.repository import GLib

connections, count = map(int, sys.argv[1:])
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
loop = GLib.MainLoop()
answers = collections.Counter()


def answered(text):
    answers[text] += 1
    if answers.total() == count:
        loop.quit()


buses = [dbus.SessionBus(private=True) for _ in range(connections)]
for number in range(count):
    app = buses[number % connections].get_object("org.linkd.Auth1", "/org/linkd/Auth1/app/demo", introspect=False)
    app.GetIdToken(
        dbus.Dictionary(signature="sv"), dbus_interface="org.linkd.Auth1.Session", timeout=60,
        reply_handler=lambda token, *_: answered(token), error_handler=lambda error: answered(error.get_dbus_name()))
for bus in buses:
    bus.flush()
print("sent", flush=True)
loop.run()
for text, number in answers.items():
    print(number, text)
