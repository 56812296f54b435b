/**
 * The samples of every kind of Kubernetes 1.36, from Debian's package of its API: installed, fetched before, or fetched
 * now with a private package list, so that the system stays as it is.
 */
import { execFile } from "node:child_process"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { userCacheFolder } from "@reprise/process"
import { Effect, Option } from "effect"
import { parse } from "yaml"
import type { SampleOf } from "./fields.ts"

const run = promisify(execFile)
const version = "0.36.4-1"
const inPackage = "usr/share/gocode/src/k8s.io/api/testdata/HEAD"
const cached = join(userCacheFolder(process.env), "kubernetes-fields", version)

const readText = (path: string): string => (existsSync(path) ? readFileSync(path, "utf8") : "")

/** A source for the suite that has the package, on the mirror and with the key of the system's own sources. */
const privateSource = (): string => {
  const stanzas = readText("/etc/apt/sources.list.d/debian.sources").split(/\n\s*\n/)
  const own = stanzas.find((text) => /^Suites:.*\b(bookworm|trixie|forky|sid)\b/m.test(text))
  const field = (name: string) => own?.match(new RegExp(`^${name}: *(.+)$`, "m"))?.[1]
  const [uri, key] = [field("URIs"), field("Signed-By")]
  if (uri === undefined || key === undefined) throw new Error("the system's package sources name no Debian mirror")
  return `Types: deb\nURIs: ${uri}\nSuites: sid\nComponents: main\nSigned-By: ${key}\n`
}

const fetchPackage = async (): Promise<string> => {
  mkdirSync(join(cached, ".."), { recursive: true })
  const scratch = mkdtempSync(join(cached, "..", ".fetch-"))
  try {
    for (const name of ["lists/partial", "cache/archives/partial"]) mkdirSync(join(scratch, name), { recursive: true })
    writeFileSync(join(scratch, "sid.sources"), privateSource())
    const options = [
      `Dir::Etc::sourcelist=${scratch}/sid.sources`,
      "Dir::Etc::sourceparts=/dev/null",
      "Dir::State::status=/dev/null",
      `Dir::State::lists=${scratch}/lists`,
      `Dir::Cache=${scratch}/cache`,
      "APT::Sandbox::User=root",
      "Acquire::Languages=none",
      "Acquire::Retries=1"
    ].flatMap((option) => ["-o", option])
    const apt = (...args: ReadonlyArray<string>) =>
      run("apt-get", [...options, "-q", ...args], { cwd: scratch, timeout: 120_000 })
    await apt("update")
    await apt("download", `golang-k8s-api-dev=${version}`)
    const archive = readdirSync(scratch).find((name) => name.endsWith(".deb")) ?? ""
    await run("dpkg-deb", ["-x", archive, "root"], { cwd: scratch })
    if (!existsSync(cached)) renameSync(join(scratch, "root", inPackage), cached)
    return cached
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

const locate = async (): Promise<string> => (existsSync(cached) ? cached : fetchPackage())

const samplesIn =
  (folder: string): SampleOf =>
  (apiVersion, kind) => {
    const group = apiVersion.includes("/") ? apiVersion.replace("/", ".") : `core.${apiVersion}`
    const text = readText(join(folder, `${group}.${kind}.yaml`))
    return text === "" ? undefined : parse(text)
  }

/** None, and a line about it, where the package is not to be had. */
export const kubernetesSamples: Effect.Effect<Option.Option<SampleOf>> = Effect.tryPromise(locate).pipe(
  Effect.map((folder) => Option.some(samplesIn(folder))),
  Effect.catch((error) => {
    const reason = String(error.cause).split("\n")[0]
    process.stdout.write(`fields of manifests: not checked, no data of Kubernetes 1.36 (${reason})\n`)
    return Effect.succeed(Option.none<SampleOf>())
  })
)
