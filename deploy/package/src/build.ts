/**
 * `npm run package [-- --output FOLDER]`: builds `reprise-<version>.tgz`, the one package that users install, in `dist` or
 * in the given folder, and prints where it is.
 */
import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import { bundle } from "./bundle.ts"
import { stage } from "./stage.ts"

const root = new URL("../../..", import.meta.url).pathname
const { values } = parseArgs({ options: { output: { type: "string", default: join(root, "dist") } } })
const output = resolve(values.output)
const folder = join(output, "package")

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const bundled = await bundle(root, folder)
const pages = execFileSync(process.execPath, [join(root, "console/build/main.ts")], { encoding: "utf8" }).trim()
cpSync(pages, join(folder, "console/dist"), { recursive: true })
const inPages: ReadonlyArray<string> = JSON.parse(readFileSync(`${pages}.modules.json`, "utf8"))
const { notices } = stage(root, folder, [...bundled, ...inPages])
const packed = execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", output], {
  cwd: folder,
  encoding: "utf8"
}).trim()
const file = join(output, packed)
const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { readonly version: string }
process.stdout.write(
  `${file}\n  reprise ${version}, ${Math.round(statSync(file).size / 1000)} kB, with code of ${notices} packages (THIRD-PARTY-NOTICES.md)\n`
)
