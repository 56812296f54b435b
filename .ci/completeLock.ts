/**
 * `npm run lock`: adds to the lock file the optional packages of other platforms that a registry did not offer when the
 * lock was made. Without them `npm ci` refuses the lock; with them it skips what is not for its platform.
 *
 * An optional package whose name begins with one of `notInstalled` in package.json is marked as for no platform, so that
 * `npm ci` skips it: programs of hundreds of megabytes that the repository does not need. A peer with such a name becomes
 * optional to the package that asks for it, and leaves the lock file with what only it needs.
 */
import { readFileSync, writeFileSync } from "node:fs"

type Names = Readonly<Record<string, string>>

interface Locked {
  readonly version?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly os?: ReadonlyArray<string>
  readonly dependencies?: Names
  readonly devDependencies?: Names
  readonly optionalDependencies?: Names
  readonly peerDependencies?: Names
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
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

/** Who depends on the package, in any way but as an optional peer. */
const whoNeeds = (name: string) =>
  Object.entries(lock.packages).filter(
    ([, { dependencies, devDependencies, optionalDependencies, peerDependencies, peerDependenciesMeta }]) =>
      [dependencies, devDependencies, optionalDependencies].some((names) => name in (names ?? {})) ||
      (name in (peerDependencies ?? {}) && peerDependenciesMeta?.[name]?.optional !== true)
  )

const removed: Array<string> = []
const remove = (name: string): void => {
  const locked = lock.packages[`node_modules/${name}`]
  if (locked === undefined || locked.optional === true) return
  const { dependencies = {} } = locked
  delete lock.packages[`node_modules/${name}`]
  removed.push(name)
  // Those that need each other as peers go together.
  const alone = Object.keys(dependencies).filter((needed) =>
    whoNeeds(needed).every(([place]) => Object.keys(dependencies).some((other) => place === `node_modules/${other}`))
  )
  for (const needed of alone) remove(needed)
}
for (const name of notInstalled) {
  for (const [place, locked] of whoNeeds(name)) {
    if (locked.peerDependencies?.[name] === undefined) continue
    const peerDependenciesMeta = { ...locked.peerDependenciesMeta, [name]: { optional: true } }
    lock.packages[place] = { ...locked, peerDependenciesMeta }
  }
  if (whoNeeds(name).length === 0) remove(name)
}
const skipped = Object.entries(lock.packages).filter(([place]) =>
  notInstalled.some((name) => place.startsWith(`node_modules/${name}`))
)
for (const [place, locked] of skipped) lock.packages[place] = { ...locked, os: ["none"] }
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
process.stdout.write(
  `${added.length} added, ${removed.length} removed, ${skipped.length} not to be installed\n${[...added, ...removed].map((name) => `  ${name}\n`).join("")}`
)
