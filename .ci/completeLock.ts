/**
 * `npm run lock`: adds to the lock file the optional packages of other platforms that a registry did not offer when the
 * lock was made. Without them `npm ci` refuses the lock; with them it skips what is not for its platform.
 *
 * An optional package whose name begins with one of `notInstalled` in package.json is marked as for no platform, so that
 * `npm ci` skips it: programs of hundreds of megabytes that the repository does not need.
 */
import { readFileSync, writeFileSync } from "node:fs"

interface Locked {
  readonly version?: string
  readonly dev?: boolean
  readonly os?: ReadonlyArray<string>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const systems: Readonly<Record<string, string>> = {
  aix: "aix",
  android: "android",
  darwin: "darwin",
  freebsd: "freebsd",
  linux: "linux",
  netbsd: "netbsd",
  openbsd: "openbsd",
  openharmony: "openharmony",
  sunos: "sunos",
  wasm32: "",
  win32: "win32",
  windows: "win32"
}
const processors = ["arm64", "arm", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "x64", "wasm32"]

/** `@swc/core-linux-x64-musl` → `{ os: ["linux"], cpu: ["x64"], libc: ["musl"] }`; nothing when the name tells no platform. */
const platformOf = (name: string) => {
  const words = (name.split("/").at(-1) ?? name).split(/[-.]/)
  const os = words.map((word) => systems[word]).find((system) => system !== undefined && system !== "")
  const cpu = words.includes("64") ? "x64" : words.find((word) => processors.includes(word))
  if (os === undefined && cpu === undefined) return undefined
  const libc = words.some((word) => word.startsWith("musl")) ? "musl" : words.includes("gnu") ? "glibc" : undefined
  return {
    ...(cpu === undefined ? {} : { cpu: [cpu] }),
    ...(os === undefined ? {} : { os: [os] }),
    ...(libc === undefined ? {} : { libc: [libc] })
  }
}

const path = "package-lock.json"
const lock: { packages: Record<string, Locked> } = JSON.parse(readFileSync(path, "utf8"))
const { notInstalled = [] }: { notInstalled?: ReadonlyArray<string> } = JSON.parse(readFileSync("package.json", "utf8"))
const added: Array<string> = []
for (const [place, { dev, optionalDependencies }] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies ?? {})) {
    const target = `node_modules/${name}`
    const platform = platformOf(name)
    if (target in lock.packages || `${place}/${target}` in lock.packages || platform === undefined) continue
    lock.packages[target] = { version, ...platform, ...(dev === true ? { dev } : {}), optional: true } as Locked
    added.push(`${name}@${version}`)
  }
}
const skipped = Object.entries(lock.packages).filter(([place]) =>
  notInstalled.some((name) => place.startsWith(`node_modules/${name}`))
)
for (const [place, locked] of skipped) lock.packages[place] = { ...locked, os: ["none"] }
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
process.stdout.write(
  `${added.length} added, ${skipped.length} not to be installed\n${added.map((name) => `  ${name}\n`).join("")}`
)
