#!/usr/bin/env python3
"""Signs you in through linkd by a mailed link, or by a provider in the browser, and says who you are.

Needs python3-gi. Run:  python3 sign_in.py APP EMAIL|PROVIDER [--show-token]
PROVIDER is google.com, for example. APP is an app that linkd knows (`linkctl app list`). Ctrl-C gives the sign-in up.
"""

import datetime
import signal
import sys

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib

LINKD = "org.linkd.Auth1"


def proxy(path, interface):
    return Gio.DBusProxy.new_for_bus_sync(
        Gio.BusType.SESSION, Gio.DBusProxyFlags.NONE, None, LINKD, path, f"{LINKD}.{interface}", None)


def sign_in(app, email):
    """Three lines to sign your user in. Gives None, or what went wrong."""
    flow = proxy(app, "SignIn").SendSignInLink("(sa{sv})", email, {})
    print(f"A link was sent to {email}. Open it on this machine.", flush=True)
    return wait(proxy(flow, "Flow"))


def sign_in_with_provider(app, provider):
    """The same three lines for a provider: linkd opens the browser."""
    flow = proxy(app, "SignIn").SignInWithProvider("(sa{sv})", provider, {})
    print("Go on in the browser.", flush=True)
    return wait(proxy(flow, "Flow"))


def wait(flow):
    """Runs the main loop until the flow has ended, and cancels it on Ctrl-C."""
    loop, result = GLib.MainLoop(), []

    def look(*_):
        properties = proxy(flow.get_object_path(), "Flow")
        stage = properties.get_cached_property("Stage").unpack()
        details = properties.get_cached_property("Details").unpack()
        if stage == "failed":
            result.append(details.get("message", "It failed."))
        elif stage == "cancelled":
            result.append("Cancelled.")
        elif stage == "expired":
            result.append("It took too long.")
        elif stage == "succeeded":
            result.append(None)
        elif stage == "conflict" and details["conflict"]["kind"] != "anonymous-upgrade":
            result.append(details["conflict"]["message"])  # an app lets people choose: flow.ResolveConflict
            flow.Cancel("(a{sv})", {})
        elif "error" in details:
            print(details["message"], file=sys.stderr)  # temporary: the flow goes on waiting
        if result:
            loop.quit()

    def give_up():
        flow.Cancel("(a{sv})", {})
        return GLib.SOURCE_REMOVE

    # The signal says that something is new; the properties say what. So nothing is missed.
    flow.connect("g-signal", look)
    flow.connect("notify::g-name-owner", lambda *_: flow.get_name_owner() and look())
    GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGINT, give_up)
    look()
    if not result:
        loop.run()
    return result[0]


def report(app, show_token):
    session = proxy(app, "Session")
    user = session.get_cached_property("User").unpack()
    print("state:", session.get_cached_property("State").unpack())
    print("user:", user.get("email", user.get("uid")))
    # A token is fetched when it is needed, never stored: linkd keeps it fresh.
    token, expires_at, _claims = session.GetIdToken("(a{sv})", {})
    print("token until:", datetime.datetime.fromtimestamp(expires_at, datetime.timezone.utc).isoformat())
    if show_token:
        print(token)


def main():
    arguments = [word for word in sys.argv[1:] if word != "--show-token"]
    if len(arguments) != 2:
        sys.exit(__doc__)
    try:
        app = proxy("/org/linkd/Auth1", "Manager").GetApp("(sa{sv})", arguments[0], {})
        is_provider = "." in arguments[1] and "@" not in arguments[1]
        problem = (sign_in_with_provider if is_provider else sign_in)(app, arguments[1])
        if problem:
            print(problem, file=sys.stderr)
            return 130 if problem == "Cancelled." else 1
        report(app, "--show-token" in sys.argv)
        return 0
    except GLib.Error as error:
        # The name is the contract (org.linkd.Auth1.Error.…), the message is for people.
        name = Gio.DBusError.get_remote_error(error)
        message = error.message.removeprefix(f"GDBus.Error:{name}: ")
        print(f"{message} ({name or error.domain})", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
