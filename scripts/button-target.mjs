// What the button of a continue page opens, computed by the page's own script as it is served: no browser needed.
// usage: node button-target.mjs PAGE_URL
const page = process.argv[2];
const load = async (name) => {
  const answer = await fetch(new URL(name, page));
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return answer.text();
};
const data = (source) => `data:text/javascript;base64,${Buffer.from(source).toString("base64")}`;
const { default: config } = await import(data(await load("config.js")));
// The script's own imports are of files beside it.
let script = await load("bridge.js");
for (const name of ["texts.js", "config.js"]) script = script.replaceAll(`"./${name}"`, JSON.stringify(data(await load(name))));
const { plan } = await import(data(script));
const { target } = plan(page, config);
if (!target) throw new Error("the page has no target for its button");
console.log(target);
