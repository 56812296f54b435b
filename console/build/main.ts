/**
 * `node console/build/main.ts`: builds the pages of the web console, unless they are built from these very sources, and
 * prints their folder. Builds never meet: each set of sources has a folder of its own.
 */
import { createHash } from "node:crypto"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const workspace = dirname(dirname(fileURLToPath(import.meta.url)))
const repository = dirname(workspace)

/** What the pages are made of: files and folders. */
const inputs = [
  "console/build",
  "console/index.html",
  "console/package.json",
  "console/public",
  "console/src",
  "console/vite.config.ts",
  "libs/agent/src/Message.ts",
  "libs/protocol/src",
  "package-lock.json"
]

const filesOf = (path: string): ReadonlyArray<string> => {
  const absolute = join(repository, path)
  if (!existsSync(absolute)) return []
  return statSync(absolute).isDirectory()
    ? readdirSync(absolute)
        .toSorted()
        .flatMap((name) => filesOf(join(path, name)))
    : [path]
}

const digest = createHash("sha256")
for (const file of inputs.flatMap(filesOf))
  digest
    .update(`${file}\0`)
    .update(readFileSync(join(repository, file)))
    .update("\0")

const all = join(workspace, "dist")
const folder = join(all, digest.digest("hex").slice(0, 16))

/** The packages whose code is in the pages, for their licences: a list beside the folder. */
const modulesOf = (outputs: Awaited<ReturnType<typeof import("vite").build>>): ReadonlyArray<string> => {
  const found = [outputs].flat().flatMap((one) => ("output" in one ? one.output : []))
  const modules = found.flatMap((chunk) => (chunk.type === "chunk" ? Object.keys(chunk.modules) : []))
  const styles = join(repository, "node_modules/tailwindcss/index.css")
  return [...new Set([...modules, styles])].filter((id) => id.includes("/node_modules/")).toSorted()
}

if (!existsSync(join(folder, "index.html"))) {
  mkdirSync(all, { recursive: true })
  const draft = mkdtempSync(join(all, "building-"))
  // Loaded only when there is something to build.
  const { build } = await import("vite")
  const built = await build({ root: workspace, logLevel: "error", build: { outDir: draft, emptyOutDir: true } })
  writeFileSync(`${folder}.modules.json`, JSON.stringify(modulesOf(built)))
  try {
    renameSync(draft, folder)
  } catch (error) {
    // Another process has just built the same.
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(join(folder, "index.html"))) throw error
  }
}
process.stdout.write(`${folder}\n`)
