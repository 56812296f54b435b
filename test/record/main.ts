/**
 * `npm run record -- NAME`: renews what the documents show. `film`: the demo at a terminal, for the README; `outputs`: what commands
 * print; `console`: pictures of the web console; `icons`: its icons for telephones.
 */
const recorders: Readonly<Record<string, () => Promise<unknown>>> = {
  film: () => import("./demoFilm.ts"),
  outputs: () => import("./writeOutputs.ts"),
  console: () => import("./consolePictures.ts"),
  icons: () => import("./consoleIcons.ts")
}

const [name = ""] = process.argv.slice(2)
const record = recorders[name]
if (record === undefined) {
  process.stderr.write(`What is to be recorded? One of: ${Object.keys(recorders).join(", ")}.\n`)
  process.exit(2)
}
await record()
