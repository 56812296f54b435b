/** What is in the package beside the code: its manifest, `nats.conf`, documents, and the licences of what is bundled. */
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { agents, code } from "./bundle.ts"

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license?: string
  /** Old packages have this instead. */
  readonly licenses?: ReadonlyArray<{ readonly type: string }>
  readonly description?: string
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
}

const readManifest = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))

/** Files of the repository that go along, and what they are called in the package. */
const files = {
  "nats.conf": "nats.conf",
  "deploy/package/README.md": "README.md",
  "CHANGELOG.md": "CHANGELOG.md",
  LICENSE: "LICENSE"
}

/** The versions that the adapters were measured with. */
const agentVersions = (root: string): Readonly<Record<string, string>> => {
  const { dependencies, peerDependencies } = readManifest(join(root, "libs/agent"))
  const known = { ...dependencies, ...peerDependencies }
  return Object.fromEntries(
    agents.map((name) => {
      const version = known[name]
      if (version === undefined) throw new Error(`libs/agent/package.json names no version of ${name}.`)
      return [name, version]
    })
  )
}

const manifestOf = (root: string): object => {
  const { license, version } = readManifest(join(root, "cli"))
  const peers = agentVersions(root)
  return {
    name: "reprise",
    version,
    description: readManifest(root).description,
    license,
    type: "module",
    bin: { reprise: `${code}/reprise.js` },
    engines: { node: ">=24" },
    os: ["linux", "darwin"],
    peerDependencies: peers,
    peerDependenciesMeta: Object.fromEntries(Object.keys(peers).map((name) => [name, { optional: true }]))
  }
}

/** The folder of the installed package that a file belongs to; undefined: it is our own code. */
const packageFolder = (file: string): string | undefined => {
  const at = file.lastIndexOf("/node_modules/")
  if (at === -1) return undefined
  const [scope, name] = file.slice(at + "/node_modules/".length).split("/")
  if (scope === undefined) return undefined
  return join(file.slice(0, at), "node_modules", scope, scope.startsWith("@") ? (name ?? "") : "")
}

const licenceText = (folder: string): string => {
  const file = readdirSync(folder).find((name) => /^(licen[cs]e|copying)/i.test(name))
  return file === undefined ? "" : readFileSync(join(folder, file), "utf8").trim()
}

/** Their authors ask for it: their names and licences come along with their code. */
const noticesOf = (folders: ReadonlyArray<string>): string =>
  [
    "# Third-party notices\n\nThis package contains code of the packages below.",
    ...folders.map((folder) => {
      const { license, licenses, name, version } = readManifest(folder)
      const licence = license ?? licenses?.map(({ type }) => type).join(" or ")
      if (licence === undefined) throw new Error(`${name} ${version} names no licence: look at ${folder}.`)
      const text = licenceText(folder)
      return `## ${name} ${version} (${licence})${text === "" ? "" : `\n\n${text}`}`
    })
  ].join("\n\n")

/** Writes all of it into `folder`. */
export const stage = (root: string, folder: string, bundled: ReadonlyArray<string>): { readonly notices: number } => {
  for (const [file, name] of Object.entries(files)) copyFileSync(join(root, file), join(folder, name))
  const found = bundled.map((file) => packageFolder(file.replace(/^\0+/, ""))).filter((one) => one !== undefined)
  const folders = [...new Set(found)].filter((one) => existsSync(join(one, "package.json"))).sort()
  writeFileSync(join(folder, "THIRD-PARTY-NOTICES.md"), `${noticesOf(folders)}\n`)
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifestOf(root), null, 2)}\n`)
  return { notices: folders.length }
}
