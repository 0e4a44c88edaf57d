// The logic of the continue page, run by node's own test runner (BridgePageTests starts it).
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";

const source = new URL("../../desktop/bridge/", import.meta.url);
const folder = mkdtempSync(join(tmpdir(), "linkd-bridge-"));
after(() => rmSync(folder, { recursive: true }));
cpSync(source, folder, { recursive: true });
// Browsers are told by the page that these are modules, node by this.
writeFileSync(join(folder, "package.json"), '{"type": "module"}');
const bridge = await import(pathToFileURL(join(folder, "bridge.js")));
const { texts } = await import(pathToFileURL(join(folder, "texts.js")));

const href = "https://app.example.com/done/?mode=signIn&lang=en&oobCode=a-b_c%3D&apiKey=KEY&ui_sid=x%26y#end";
const schemes = ["com.example.linkd"];

// MARK: What is opened

test("the link goes whole and percent-encoded into the app's scheme (B050, B073)", () => {
  const { state, target } = bridge.plan(href, { schemes });
  assert.equal(state, "ready");
  assert.equal(target, `com.example.linkd://auth?link=${encodeURIComponent(href)}`);
  assert.equal(decodeURIComponent(target.slice("com.example.linkd://auth?link=".length)), href);
  assert.doesNotMatch(target.slice("com.example.linkd://".length), /[:#'"<>\s]|&/);
});

test("a scheme without digits is preferred (B072)", () => {
  assert.equal(bridge.chooseScheme(["app-1-2-web-3", "fb12", "com.example.linkd"]), "com.example.linkd");
  assert.equal(bridge.chooseScheme(["app-1-2-web-3", "fb12"]), "app-1-2-web-3");
});

test("only an app's own configured scheme is opened", () => {
  for (const scheme of ["javascript", "https", "data", "file", "mailto", "COM.example", "com.example:x", "a b.c", "", 5, null, ".a", "a."]) {
    assert.equal(bridge.chooseScheme([scheme]), null, String(scheme));
    assert.deepEqual(bridge.plan(href, { schemes: [scheme] }), { state: "no-scheme", target: null });
  }
  assert.equal(bridge.chooseScheme(["javascript", "com.example.linkd"]), "com.example.linkd");
  assert.equal(bridge.chooseScheme([]), null);
  assert.equal(bridge.chooseScheme(undefined), null);
  // What the address says is never taken for a scheme.
  assert.equal(bridge.plan(`${href}&scheme=com.evil.app`, { schemes }).target.split(":")[0], "com.example.linkd");
});

test("an address without a code has nothing to hand over", () => {
  for (const address of ["https://app.example.com/", "https://app.example.com/?mode=signIn", "https://a.example/?oobCode=", "https://a.example/?oobCode=%20", "https://a.example/#oobCode=x", "nonsense"]) {
    assert.deepEqual(bridge.plan(address, { schemes }), { state: "no-code", target: null }, address);
  }
});

test("a code inside an inner link counts, to a bounded depth", () => {
  let address = "https://demo.firebaseapp.com/__/auth/action?oobCode=c";
  for (let depth = 0; depth < 3; depth += 1) {
    address = `https://a.example/?link=${encodeURIComponent(address)}`;
    assert.equal(bridge.hasCode(address), true);
  }
  assert.equal(bridge.hasCode(`https://a.example/?link=${encodeURIComponent(address)}`), false);
});

// MARK: A stand-in for the browser

/** Just enough of a page: elements by id, events, and a clock that moves when it's told to. */
function page({ address = href, languages = ["en"], clipboard = undefined, execCommand = () => true } = {}) {
  const timers = new Map();
  let clock = 0, serial = 0;
  const target = () => {
    const handlers = new Map();
    return {
      handlers,
      addEventListener: (type, handler) => handlers.set(type, [...(handlers.get(type) ?? []), handler]),
      removeEventListener: (type, handler) => handlers.set(type, (handlers.get(type) ?? []).filter((one) => one !== handler)),
      dispatch: (type, event = {}) => Promise.all((handlers.get(type) ?? []).map((handler) => handler(event))),
    };
  };
  const html = readFileSync(join(folder, "index.html"), "utf8");
  const elements = new Map();
  const make = (hidden, textId) => ({
    ...target(), hidden, dataset: textId ? { text: textId } : {}, textContent: "", selected: false,
    select() { this.selected = true; }, focus() {},
    replaceChildren(...parts) { this.textContent = parts.map((part) => part.textContent ?? part).join(""); },
    ownerDocument: { createElement: () => ({ textContent: "" }) },
  });
  for (const [tag] of html.matchAll(/<[a-z0-9]+ [^>]*>/g)) {
    const id = tag.match(/ id="([^"]+)"/)?.[1], textId = tag.match(/ data-text="([^"]+)"/)?.[1];
    if (id || textId) elements.set(id ?? Symbol(textId), make(/ hidden/.test(tag), textId));
  }
  const document = {
    ...target(), visibilityState: "visible", title: "", documentElement: { lang: "en" }, body: { dataset: {} }, execCommand,
    getElementById: (id) => elements.get(id),
    querySelectorAll: () => [...elements.values()].filter((element) => element.dataset.text),
  };
  const location = { get href() { return address; }, set href(_) { assert.fail("the page navigated by itself"); } };
  const window = {
    ...target(), document, location, navigator: { languages, clipboard },
    setTimeout: (handler, delay) => (timers.set((serial += 1), { handler, at: clock + delay }), serial),
    clearTimeout: (id) => timers.delete(id),
  };
  const advance = (milliseconds) => {
    clock += milliseconds;
    for (const [id, timer] of [...timers]) if (timer.at <= clock) { timers.delete(id); timer.handler(); }
  };
  const click = (isTrusted = true) => {
    let prevented = false;
    elements.get("open").dispatch("click", { isTrusted, preventDefault: () => { prevented = true; } });
    return prevented;
  };
  const open = (config) => bridge.start(window, { schemes, name: "Demo", language: null, ...config });
  return { window, document, elements, timers, advance, click, open, get: (id) => elements.get(id) };
}

// MARK: The page

test("nothing happens without a click (mail scanners, previews)", () => {
  const it = page();
  it.open();
  it.advance(60_000);
  assert.equal(it.timers.size, 0);
  assert.equal(it.get("status").textContent, "");
  assert.equal(it.get("open").hidden, false);
  assert.equal(it.get("open").href, bridge.plan(href, { schemes }).target);
});

test("only a real click hands over (B081)", () => {
  const it = page();
  it.open();
  assert.equal(it.click(false), true);
  assert.equal(it.timers.size, 0);
  assert.equal(it.click(true), false);
  assert.equal(it.get("status").textContent, texts.en.opening.replace("{name}", "Demo"));
});

test("after 3 s without a hand-over the page says so and what to do (B081)", () => {
  const it = page();
  it.open();
  it.click();
  it.advance(2999);
  assert.equal(it.document.body.dataset.state, "opening");
  it.advance(1);
  assert.equal(it.document.body.dataset.state, "ignored");
  assert.match(it.get("status").textContent, /nothing has taken the link.*linkctl register/);
  assert.equal(it.get("copyable").hidden, false);
  // Too late for a change of mind: a window that comes to the front later has another reason.
  it.window.dispatch("blur");
  assert.equal(it.document.body.dataset.state, "ignored");
});

for (const [name, happen] of [
  ["the window loses focus", (it) => it.window.dispatch("blur")],
  ["the page is left", (it) => it.window.dispatch("pagehide")],
  ["the page is hidden", (it) => { it.document.visibilityState = "hidden"; it.document.dispatch("visibilitychange"); }],
]) {
  test(`a hand-over is seen: ${name}`, () => {
    const it = page();
    it.open();
    it.click();
    it.advance(500);
    happen(it);
    assert.equal(it.document.body.dataset.state, "taken");
    it.advance(10_000);
    assert.equal(it.document.body.dataset.state, "taken");
    assert.match(it.get("status").textContent, /let it open Demo.*use the way below/);
  });
}

test("the browser's own question isn't taken for the app: when it's gone, the wait starts anew (B081)", () => {
  const it = page();
  it.open();
  it.click();
  it.window.dispatch("blur");
  it.advance(20_000);
  it.window.dispatch("focus");
  it.advance(2999);
  assert.equal(it.document.body.dataset.state, "taken");
  it.advance(1);
  assert.equal(it.document.body.dataset.state, "ignored");
  assert.equal(["blur", "focus", "pagehide"].flatMap((type) => it.window.handlers.get(type)).length, 0);
  assert.equal(it.document.handlers.get("visibilitychange").length, 0);
});

test("an app that comes to the front after the question has the link", () => {
  const it = page();
  it.open();
  it.click();
  it.window.dispatch("blur");
  it.window.dispatch("focus");
  it.advance(1000);
  it.window.dispatch("pagehide");
  it.advance(10_000);
  assert.equal(it.document.body.dataset.state, "taken");
});

test("becoming visible is no hand-over", () => {
  const it = page();
  it.open();
  it.click();
  it.document.dispatch("visibilitychange");
  assert.equal(it.document.body.dataset.state, "opening");
});

test("a second click starts the wait anew", () => {
  const it = page();
  it.open();
  it.click();
  it.advance(2000);
  it.click();
  it.advance(2000);
  assert.equal(it.document.body.dataset.state, "opening");
  assert.equal(it.timers.size, 1);
  it.advance(1000);
  assert.equal(it.document.body.dataset.state, "ignored");
});

test("the link can be copied at any time (B080)", async () => {
  const copied = [];
  const it = page({ clipboard: { writeText: async (text) => { copied.push(text); } } });
  it.open();
  assert.equal(it.get("link").value, href);
  assert.equal(it.get("copyable").hidden, false);
  await it.get("copy").dispatch("click");
  assert.deepEqual(copied, [href]);
  assert.equal(it.get("copied").textContent, "Copied.");
});

test("copying works without the clipboard interface, or selects (http, old browsers)", async () => {
  const old = page();
  old.open();
  await old.get("copy").dispatch("click");
  assert.equal(old.get("copied").textContent, "Copied.");
  assert.equal(old.get("link").selected, true);
  for (const execCommand of [() => false, () => { throw new Error("not allowed"); }]) {
    const refused = page({ clipboard: { writeText: async () => { throw new Error("denied"); } }, execCommand });
    refused.open();
    await refused.get("copy").dispatch("click");
    assert.match(refused.get("copied").textContent, /Ctrl\+C/);
    assert.equal(refused.get("link").selected, true);
  }
});

test("without a code the page says so and offers nothing", () => {
  const it = page({ address: "https://app.example.com/done/" });
  it.open();
  assert.equal(it.get("open").hidden, true);
  assert.equal(it.get("manual").hidden, true);
  assert.match(it.get("lead").textContent, /no sign-in link/);
});

test("without a scheme only copying is offered", () => {
  const it = page();
  it.open({ schemes: [] });
  assert.equal(it.get("open").hidden, true);
  assert.equal(it.get("copyable").hidden, false);
  assert.match(it.get("lead").textContent, /by hand/);
});

// MARK: Texts

test("every language has every text, and nothing else", () => {
  for (const [language, table] of Object.entries(texts)) {
    assert.deepEqual(Object.keys(table), Object.keys(texts.en), language);
    for (const [id, value] of Object.entries(table)) {
      assert.equal(value, value.trim(), `${language} ${id}`);
      for (const part of ["{name}", "`linkctl open -`", "`linkctl register`"]) {
        assert.equal(value.includes(part), texts.en[id].includes(part), `${language} ${id} ${part}`);
      }
    }
  }
  assert.deepEqual(Object.keys(texts), ["en", "fr", "tr", "ru", "zh-TW"]);
});

test("every text of the page exists", () => {
  const html = readFileSync(join(folder, "index.html"), "utf8");
  for (const [, id] of html.matchAll(/data-text="([^"]+)"/g)) assert.ok(texts.en[id], id);
});

test("languages: the configured one, the link's, the visitor's, English", () => {
  assert.equal(bridge.chooseLanguage(["zh-Hant-HK"]), "zh-TW");
  assert.equal(bridge.chooseLanguage(["zh-CN", "fr-CA"]), "fr");
  assert.equal(bridge.chooseLanguage([null, undefined, "__proto__", "ru_RU"]), "ru");
  assert.equal(bridge.chooseLanguage(["de"]), "en");
  const it = page({ languages: ["ru"], address: href.replace("lang=en", "lang=tr") });
  it.open();
  assert.equal(it.document.documentElement.lang, "tr");
  it.open({ language: "fr" });
  assert.equal(it.document.documentElement.lang, "fr");
  assert.equal(it.document.title, texts.fr.title);
});

test("the app's name is text, whatever is in it", () => {
  assert.equal(bridge.text("en", "open", "$& <b>`x`"), "Open $& <b>`x`");
  assert.equal(bridge.text("en", "open", " "), "Open the app");
  assert.equal(bridge.text("xx", "open", "Demo"), "Open Demo");
});

// MARK: The files

test("nothing comes from elsewhere and nothing is sent", () => {
  const html = readFileSync(join(folder, "index.html"), "utf8");
  assert.match(html, /http-equiv="Content-Security-Policy" content="default-src 'self'; connect-src 'none'/);
  assert.match(html, /<meta name="referrer" content="no-referrer">/);
  for (const [, , value] of html.matchAll(/ (src|href)="([^"]*)"/g)) assert.match(value, /^[a-z]+\.(js|css)$/);
  assert.doesNotMatch(html, / on[a-z]+=|style=|<style|<script(?! type="module" src)|http-equiv="refresh"/);
  assert.match(html, /<noscript>/);
  for (const name of ["bridge.js", "texts.js", "config.js", "style.css"]) {
    const text = readFileSync(join(folder, name), "utf8");
    assert.doesNotMatch(text, /https?:\/\/|fetch\(|XMLHttpRequest|sendBeacon|WebSocket|EventSource|innerHTML|@import|url\(|localStorage|document\.cookie/, name);
  }
  assert.doesNotMatch(readFileSync(join(folder, "bridge.js"), "utf8"), /location\.(href|assign|replace)\s*(=[^=]|\()|window\.open/);
});
