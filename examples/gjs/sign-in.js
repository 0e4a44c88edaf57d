#!/usr/bin/env -S gjs -m
// Signs you in through linkd by a mailed link, or by a phone number, and says who you are.
//
// Needs gjs 1.68 or later. Run:  gjs -m sign-in.js APP EMAIL|NUMBER [--show-token]
// NUMBER begins with +. Codes, of second factors too, are lines of standard input.
// APP is an app that linkd knows (`linkctl app list`). Ctrl-C gives the sign-in up.

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import System from 'system';

const LINKD = 'org.linkd.Auth1';
Gio._promisify(Gio.DBusConnection.prototype, 'call', 'call_finish');
Gio._promisify(Gio.DataInputStream.prototype, 'read_line_async', 'read_line_finish_utf8');
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
  return end(flow, `A link was sent to ${email}. Open it on this machine.`);
}

/** The same for a number: end() asks for the code of the message. */
async function signInByPhone(app, number) {
  const [flow] = await call(app, `${LINKD}.SignIn`, 'SignInWithPhoneNumber', 's', number);
  return end(flow, `A message is on its way to ${number}.`);
}

/** Gives the flow the code that it waits for, and before that, of several second factors, the first. An app lets people choose. */
async function answer(flow, stage, details) {
  if (stage === 'second-factor-required')
    return call(flow, `${LINKD}.Flow`, 'ChooseFactor', 's', details.hints[0].uid);
  answer.input ??= new Gio.DataInputStream({base_stream: Gio.File.new_for_path('/dev/stdin').read(null)});
  for (;;) {
    print(`The code, ${details['attempts-left']} attempts:`);
    const [line] = await answer.input.read_line_async(GLib.PRIORITY_DEFAULT, null);
    if (line === null) return call(flow, `${LINKD}.Flow`, 'Cancel');
    try {
      return await call(flow, `${LINKD}.Flow`, 'ProvideCode', 's', line.trim());
    } catch (error) {
      // What is no code at all is refused, and counts as no attempt.
      if (!Gio.DBusError.get_remote_error(error)?.endsWith('InvalidVerificationCode')) throw error;
      Gio.DBusError.strip_remote_error(error);
      printerr(error.message);
    }
  }
}

/** Says what to do, and gives the flow's stage and details at its end. Ctrl-C cancels it. */
function end(flow, hint) {
  let asked;
  return new Promise((resolve, reject) => {
    // The signal says that something is new; the properties say what. So nothing is missed.
    const look = async () => {
      try {
        const {Stage: stage, Details: details, Sequence: sequence} = await properties(flow, 'Flow');
        if (['succeeded', 'failed', 'cancelled', 'expired'].includes(stage)) {
          bus.signal_unsubscribe(subscription);
          resolve({stage, details});
        } else if (details.message) {
          printerr(details.message); // temporary: the flow goes on waiting
        }
        if (['waiting-for-code', 'second-factor-required'].includes(stage) && sequence !== asked) {
          asked = sequence;
          await answer(flow, stage, details);
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
    print(hint);
    look();
  });
}

async function report(app, showToken) {
  const {State: state, User: user} = await properties(app, 'Session');
  print(`state: ${state}`);
  print(`user: ${user.email ?? user['phone-number'] ?? user.uid}`);
  // A token is fetched when it is needed, never stored: linkd keeps it fresh.
  const [token, expiresAt] = await call(app, `${LINKD}.Session`, 'GetIdToken');
  print(`token until: ${new Date(expiresAt * 1000).toISOString()}`);
  if (showToken) print(token);
}

async function main(words) {
  const [name, who] = words.filter(word => word !== '--show-token');
  if (!who) {
    printerr('usage: gjs -m sign-in.js APP EMAIL|NUMBER [--show-token]');
    return 64;
  }
  const [app] = await call('/org/linkd/Auth1', `${LINKD}.Manager`, 'GetApp', 's', name);
  const {stage, details} = await (who.startsWith('+') ? signInByPhone : signIn)(app, who);
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
