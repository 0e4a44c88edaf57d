// The continue page of a sign-in link: hands the link in the address bar over to the app on this computer, by the app's
// own scheme, when the visitor says so. It sends nothing, fetches nothing and spends nothing: a mail scanner that opens
// it leaves the link as it was.
import config from "./config.js";
import { texts } from "./texts.js";

/** How long a browser may take to hand over before the page says that nothing happened, in milliseconds. */
export const patience = 3000;

/** Whether `scheme` can be an app's own: lower case with a dot, `fb` and digits, or `app-…`. */
export function isOwnScheme(scheme) {
  return typeof scheme === "string" && scheme.length <= 128
    && /^(?:[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+|fb[0-9]+|app-[a-z0-9.+-]+)$/.test(scheme);
}

/** The scheme to open. One without digits is preferred: some launchers refuse digits. */
export function chooseScheme(schemes) {
  const own = Array.isArray(schemes) ? schemes.filter(isOwnScheme) : [];
  return own.find((scheme) => !/[0-9]/.test(scheme)) ?? own[0] ?? null;
}

/** Whether the address carries a code: its own, or that of a link inside it. */
export function hasCode(href, depth = 0) {
  let query;
  try {
    query = new URL(href).searchParams;
  } catch {
    return false;
  }
  if (query.getAll("oobCode").some((code) => code.trim() !== "")) return true;
  const inner = query.get("link") ?? query.get("deep_link_id");
  return inner !== null && depth < 3 && hasCode(inner, depth + 1);
}

/**
 * What the page can do with its address.
 * `state`: `ready` (the button opens `target`), `no-scheme` (only copying helps), `no-code` (there's nothing to hand over).
 */
export function plan(href, { schemes }) {
  if (!hasCode(href)) return { state: "no-code", target: null };
  const scheme = chooseScheme(schemes);
  if (scheme === null) return { state: "no-scheme", target: null };
  return { state: "ready", target: `${scheme}://auth?link=${encodeURIComponent(href)}` };
}

/** The first language of `wanted` that the page speaks; English otherwise. */
export function chooseLanguage(wanted) {
  for (const tag of wanted) {
    const parts = String(tag ?? "").toLowerCase().split(/[-_]/);
    // Traditional characters are one thing, whatever the region.
    if (parts[0] === "zh" && parts.some((part) => ["tw", "hk", "mo", "hant"].includes(part))) return "zh-TW";
    if (Object.hasOwn(texts, parts[0])) return parts[0];
  }
  return "en";
}

/** A text with the app's name put in. */
export function text(language, id, name) {
  const table = texts[language] ?? texts.en;
  const app = String(name ?? "").trim() || table.theApp;
  return (table[id] ?? texts.en[id]).replaceAll("{name}", () => app);
}

/**
 * Watches what becomes of a click; what it returns ends the watch. `taken`: something came to the front, an app or the
 * browser's own question whether to open one. `ignored`: nothing did for as long as `patience`, or that question is gone
 * and nothing followed. A handler without a window can't be told from none, so the texts leave room for it.
 */
export function watchHandOver({ window, document, taken, ignored }) {
  const arm = () => window.setTimeout(() => end(ignored), patience);
  let timer = arm();
  const onBlur = () => {
    window.clearTimeout(timer);
    taken();
  };
  const onFocus = () => {
    window.clearTimeout(timer);
    timer = arm();
  };
  const onLeave = () => end(taken);
  const onVisibility = () => {
    if (document.visibilityState === "hidden") onLeave();
  };
  const listeners = [
    [window, "blur", onBlur], [window, "focus", onFocus], [window, "pagehide", onLeave],
    [document, "visibilitychange", onVisibility],
  ];
  const end = (report) => {
    window.clearTimeout(timer);
    for (const [target, type, listener] of listeners) target.removeEventListener(type, listener);
    report?.();
  };
  for (const [target, type, listener] of listeners) target.addEventListener(type, listener);
  return () => end();
}

/** Puts `value` on the clipboard; false where the browser won't. */
export async function copy(value, { navigator, document, input }) {
  try {
    await navigator.clipboard.writeText(value);
    return true;
  } catch {
    // Not a secure context, or not allowed: the old way.
    input.focus();
    input.select();
    try {
      return document.execCommand("copy");
    } catch {
      return false;
    }
  }
}

/** Brings the page to life. */
export function start(window, { schemes, name, language: configured }) {
  const { document, navigator } = window;
  const href = window.location.href;
  const element = (id) => document.getElementById(id);
  const asked = new URL(href).searchParams.get("lang");
  const language = chooseLanguage([configured, asked, ...(navigator.languages ?? [navigator.language])]);
  const say = (id) => text(language, id, name);

  document.documentElement.lang = language;
  document.title = say("title");
  for (const node of document.querySelectorAll("[data-text]")) fill(node, say(node.dataset.text));

  const { state, target } = plan(href, { schemes });
  if (state === "no-code") {
    element("lead").textContent = say("noCode");
    element("manual").hidden = true;
    return;
  }
  offerCopy(window, href, say);
  if (state === "no-scheme") {
    element("lead").textContent = say("noScheme");
    return;
  }
  offerOpening(window, target, say);
}

function offerOpening(window, target, say) {
  const { document } = window;
  const button = document.getElementById("open");
  const status = document.getElementById("status");
  let stop = () => {};
  button.textContent = say("open");
  button.href = target;
  button.hidden = false;
  button.addEventListener("click", (event) => {
    // Scripts don't click here: only the visitor hands a link over.
    if (!event.isTrusted) {
      event.preventDefault();
      return;
    }
    stop();
    fill(status, say("opening"));
    document.body.dataset.state = "opening";
    const report = (state) => () => {
      fill(status, say(state));
      document.body.dataset.state = state;
    };
    stop = watchHandOver({ window, document, taken: report("taken"), ignored: report("ignored") });
  });
}

function offerCopy(window, href, say) {
  const { document, navigator } = window;
  const input = document.getElementById("link");
  const copied = document.getElementById("copied");
  input.value = href;
  input.addEventListener("focus", () => input.select());
  document.getElementById("copyable").hidden = false;
  document.getElementById("copy").addEventListener("click", async () => {
    copied.textContent = "";
    copied.textContent = say((await copy(href, { navigator, document, input })) ? "copied" : "copyYourself");
  });
}

/** Text with `code` in backquotes; never markup. */
function fill(node, value) {
  const parts = value.split("`").map((part, index) => {
    if (index % 2 === 0) return part;
    const code = node.ownerDocument.createElement("code");
    code.textContent = part;
    return code;
  });
  node.replaceChildren(...parts);
}

if (typeof window !== "undefined") start(window, config);
