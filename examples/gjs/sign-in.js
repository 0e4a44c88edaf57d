#!/usr/bin/env -S gjs -m
// Signs you in through linkd by a mailed link, and says who you are.
//
// Needs gjs 1.68 or later. Run:  gjs -m sign-in.js APP EMAIL [--show-token]
// APP is an app that linkd knows (`linkctl app list`). Ctrl-C gives the sign-in up.

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import System from 'system';

const LINKD = 'org.linkd.Auth1';
Gio._promisify(Gio.DBusConnection.prototype, 'call', 'call_finish');
const bus = Gio.DBus.session;

/** Calls a method; `signature` and `values` are without the options that end every call. */
async function call(path, iface, member, signature = '', ...values) {
  const options = iface.startsWith(LINKD);
  const body = new GLib.Variant(`(${signature}${options ? 'a{sv}' : ''})`, options ? [...values, {}] : values);
  const reply = await bus.call(LINKD, path, iface, member, body, null, Gio.DBusCallFlags.NONE, -1, null);
  return reply.recursiveUnpack();
}

const properties = async (path, iface) =>
  (await call(path, 'org.freedesktop.DBus.Properties', 'GetAll', 's', `${LINKD}.${iface}`))[0];

/** Three lines to sign your user in. */
async function signIn(app, email) {
  const [flow] = await call(app, `${LINKD}.SignIn`, 'SendSignInLink', 's', email);
  print(`A link was sent to ${email}. Open it on this machine.`);
  return end(flow);
}

/** The flow's stage and details at its end. Ctrl-C cancels it. */
function end(flow) {
  return new Promise((resolve, reject) => {
    // The signal says that something is new; the properties say what. So nothing is missed.
    const look = async () => {
      try {
        const {Stage: stage, Details: details} = await properties(flow, 'Flow');
        if (['succeeded', 'failed', 'cancelled', 'expired'].includes(stage)) {
          bus.signal_unsubscribe(subscription);
          resolve({stage, details});
        } else if (details.message) {
          printerr(details.message); // temporary: the flow goes on waiting
        }
      } catch (error) {
        reject(error);
      }
    };
    const subscription = bus.signal_subscribe(
      LINKD, `${LINKD}.Flow`, 'StageChanged', flow, null, Gio.DBusSignalFlags.NONE, look);
    GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, 2 /* SIGINT */, () => {
      call(flow, `${LINKD}.Flow`, 'Cancel').catch(reject);
      return GLib.SOURCE_REMOVE;
    });
    look();
  });
}

async function report(app, showToken) {
  const {State: state, User: user} = await properties(app, 'Session');
  print(`state: ${state}`);
  print(`user: ${user.email ?? user.uid}`);
  // A token is fetched when it is needed, never stored: linkd keeps it fresh.
  const [token, expiresAt] = await call(app, `${LINKD}.Session`, 'GetIdToken');
  print(`token until: ${new Date(expiresAt * 1000).toISOString()}`);
  if (showToken) print(token);
}

async function main(words) {
  const [name, email] = words.filter(word => word !== '--show-token');
  if (!email) {
    printerr('usage: gjs -m sign-in.js APP EMAIL [--show-token]');
    return 64;
  }
  const [app] = await call('/org/linkd/Auth1', `${LINKD}.Manager`, 'GetApp', 's', name);
  const {stage, details} = await signIn(app, email);
  if (stage !== 'succeeded') {
    printerr(details.message ?? `It ended without a sign-in: ${stage}.`);
    return stage === 'cancelled' ? 130 : 1;
  }
  await report(app, words.includes('--show-token'));
  return 0;
}

const loop = new GLib.MainLoop(null, false);
let status = 1;
main(System.programArgs ?? ARGV).then(
  code => (status = code),
  error => {
    // The name is the contract (org.linkd.Auth1.Error.…), the message is for people.
    const name = error instanceof GLib.Error ? Gio.DBusError.get_remote_error(error) : null;
    if (name) Gio.DBusError.strip_remote_error(error);
    printerr(`${error.message} (${name})`);
  }
).finally(() => loop.quit());
loop.run();
System.exit(status);
