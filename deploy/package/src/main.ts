/**
 * `npm run package [-- --output FOLDER]` builds the one package that users install; `npm run package -- publish [--really]` shows
 * what npm would publish, and publishes it.
 */
const [command] = process.argv.slice(2)
if (command === "publish") {
  process.argv.splice(2, 1)
  await import("./publish.ts")
} else {
  await import("./build.ts")
}
