"""Prints what a flow is on D-Bus as JSON: its properties, by a client that isn't ours.

usage: flow.py ID
"""

import json
import sys

import dbus

sys.dont_write_bytecode = True
from values import plain  # noqa: E402

flow = dbus.SessionBus().get_object("org.linkd.Auth1", "/org/linkd/Auth1/flow/" + sys.argv[1], introspect=False)
print(json.dumps(plain(flow.GetAll("org.linkd.Auth1.Flow", dbus_interface="org.freedesktop.DBus.Properties"))))
