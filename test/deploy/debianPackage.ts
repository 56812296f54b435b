/**
 * A part of a Debian package, fetched from sid with a private package list, so that the system stays as it is: releases
 * have versions of Kubernetes that are too old.
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
import { dirname, join } from "node:path"
import { promisify } from "node:util"

const run = promisify(execFile)

const systemSources = "/etc/apt/sources.list.d/debian.sources"

/** A source for sid, on the mirror and with the key of the system's own sources. */
const privateSource = (): string => {
  const text = existsSync(systemSources) ? readFileSync(systemSources, "utf8") : ""
  const own = text.split(/\n\s*\n/).find((stanza) => /^Suites:.*\b(bookworm|trixie|forky|sid)\b/m.test(stanza))
  const field = (name: string) => own?.match(new RegExp(`^${name}: *(.+)$`, "m"))?.[1]
  const [uri, key] = [field("URIs"), field("Signed-By")]
  if (uri === undefined || key === undefined) throw new Error("the system's package sources name no Debian mirror")
  return `Types: deb\nURIs: ${uri}\nSuites: sid\nComponents: main\nSigned-By: ${key}\n`
}

interface Wanted {
  /** As apt names it, with a version or without: `golang-k8s-api-dev=0.36.*`. */
  readonly name: string
  /** The path of what is wanted in the package. */
  readonly path: string
  /** Where it is kept; it appears there in one step. */
  readonly target: string
}

const fetchPart = async ({ name, path, target }: Wanted): Promise<void> => {
  mkdirSync(dirname(target), { recursive: true })
  const scratch = mkdtempSync(join(dirname(target), ".fetch-"))
  try {
    for (const folder of ["lists/partial", "cache/archives/partial"]) {
      mkdirSync(join(scratch, folder), { recursive: true })
    }
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
    await apt("download", name)
    const archive = readdirSync(scratch).find((file) => file.endsWith(".deb")) ?? ""
    await run("dpkg-deb", ["-x", archive, "root"], { cwd: scratch })
    if (!existsSync(target)) renameSync(join(scratch, "root", path), target)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** The path of the part: fetched before, or now. */
export const partOfPackage = async (wanted: Wanted): Promise<string> => {
  if (!existsSync(wanted.target)) await fetchPart(wanted)
  return wanted.target
}
