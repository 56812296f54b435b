/** What a command leaves in the caches and in `/tmp`, and who finds it there. */
import { execFile, execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { RunId } from "@reprise/protocol"
import { Effect, Schedule } from "effect"
import { makeGateCaches, removeUnusedCaches } from "../src/caches/cacheFolders.ts"
import { caches } from "../src/caches/cacheRules.ts"
import { layerSandbox, Sandbox } from "../src/index.ts"
import { canSandbox, type Scene, scene } from "../src/testing/index.ts"

const sandboxed = await canSandbox()

const programAt = (command: string, ...args: ReadonlyArray<string>): string | undefined => {
  try {
    return execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim()
  } catch {
    return undefined
  }
}
/** Without rustup, which would look for its toolchains in the home of the scene. */
const rust = programAt("rustc", "--print", "sysroot")
const hasCargo = rust !== undefined && existsSync(join(rust, "bin", "cargo"))

const environmentOf = ({ home }: Scene) => ({
  ...process.env,
  HOME: home,
  PATH: `${rust === undefined ? "" : `${rust}/bin:`}${process.env["PATH"]}`
})

const layerOf = (here: Scene) =>
  layerSandbox({
    mode: "required",
    gates: true,
    settings: { write: [], read: [], deny: [], network: [] },
    stateDirectory: here.stateDirectory,
    environment: environmentOf(here)
  })

const run = (here: Scene, shell: string, command: string) =>
  Effect.callback<string>((resume) => {
    execFile(shell, ["-c", command], { cwd: here.workspace, env: environmentOf(here) }, (_, stdout, stderr) =>
      resume(Effect.succeed(`${stdout}${stderr}`))
    )
  })

/** What commands print that run one after the other, each of an agent or of a quality gate of a run. */
const told = Effect.fnUntraced(function* (
  here: Scene,
  commands: ReadonlyArray<readonly [of: "author" | "reviewer" | "r1" | "r2", command: string]>
) {
  const sandbox = yield* Sandbox
  return yield* Effect.forEach(commands, ([of, command]) =>
    Effect.gen(function* () {
      const shell =
        of === "author" || of === "reviewer"
          ? yield* sandbox.shellFor(here.workspace, of)
          : yield* sandbox.gateShell(here.workspace, RunId.make(of))
      return (yield* run(here, shell, command)).trim()
    })
  )
})

/** A file that each tool would obey, where there is one, and a package; both say who wrote them. */
const obeyed: Readonly<Record<string, string>> = {
  npm: "_npx/1/node_modules/.bin/x",
  cargo: "config.toml",
  gradle: "init.d/x.gradle",
  deno: "check_cache_v2",
  uv: "environments-v2/x",
  poetry: "virtualenvs/x",
  ccache: "ccache.conf",
  composer: "config.json",
  "yarn-global": ".yarnrc.yml",
  pip: "pip.conf"
}

/** A path of something that outlives a gate. */
const packageIn = (packages: ReadonlyArray<string>) => `${(packages[0] ?? "").replaceAll("*", "-v1")}/package`

const folderOf = (variable: string) =>
  variable === "MAVEN_ARGS" ? `"\${MAVEN_ARGS#-Dmaven.repo.local=}"` : `"$${variable}"`

const writing = (who: string) =>
  caches
    .flatMap(({ folder, packages, variable }) =>
      [obeyed[folder], packageIn(packages)].flatMap((path) =>
        path === undefined
          ? []
          : [`f=${folderOf(variable)}/${path}; mkdir -p "\${f%/*}" && echo '${who} ${folder}/${path}' > "$f"`]
      )
    )
    .join("\n")

const reading = `cat $(find ${caches.map(({ variable }) => folderOf(variable)).join(" ")} -type f 2>/dev/null) </dev/null | sort`

const allPackages = (who: string) =>
  caches.map(({ folder, packages }) => `${who} ${folder}/${packageIn(packages)}`).sort()

const lines = (text: string | undefined) => (text ?? "").split("\n").filter((line) => line !== "")

describe.skipIf(!sandboxed)("the caches", () => {
  it.live("of every tool show a gate the packages of earlier gates of its run, and nothing else", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const [, afterAuthor, , afterGate, ofAnotherRun, ofAuthor] = yield* told(here, [
        ["author", writing("author")],
        ["r1", reading],
        ["r1", writing("r1")],
        ["r1", reading],
        ["r2", reading],
        ["reviewer", reading]
      ]).pipe(Effect.provide(layerOf(here)))
      assert.deepStrictEqual(lines(afterAuthor), [])
      assert.deepStrictEqual(lines(afterGate), allPackages("r1"))
      assert.deepStrictEqual(lines(ofAnotherRun), [])
      const own = lines(ofAuthor)
      assert.strictEqual(own.length, caches.length + Object.keys(obeyed).length)
      assert.deepStrictEqual(
        own.filter((line) => !line.startsWith("author ")),
        []
      )
    })
  )

  it.live("show the commands of one workspace nothing that those of another wrote", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const second = { ...here, workspace: join(here.home, "second") }
      const [ofAuthor, ofGate] = yield* Effect.gen(function* () {
        yield* told(here, [
          ["author", writing("author")],
          ["r1", writing("r1")]
        ])
        return yield* told(second, [
          ["author", reading],
          ["r1", reading]
        ])
      }).pipe(Effect.provide(layerOf(here)))
      assert.deepStrictEqual([ofAuthor, ofGate], ["", ""])
    })
  )

  it.live("are at the same place for an author and for a gate, since tools write it down", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const [author, gate] = yield* told(here, [
        ["author", "echo $CARGO_HOME"],
        ["r1", "echo $CARGO_HOME"]
      ]).pipe(Effect.provide(layerOf(here)))
      assert.isNotEmpty(author)
      assert.strictEqual(author, gate)
    })
  )

  it.live("give a gate an empty /tmp", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const found = yield* told(here, [
        ["author", "echo x > /tmp/transformed"],
        ["r1", "cat /tmp/* /var/tmp/*; echo x > /tmp/mine"],
        ["r1", "cat /tmp/* /var/tmp/*"],
        ["author", "cat /tmp/transformed /tmp/mine"]
      ]).pipe(Effect.provide(layerOf(here)))
      assert.deepStrictEqual(
        found.map((text) => lines(text).filter((line) => line === "x")),
        [[], [], [], ["x"]]
      )
    })
  )

  it.live("of npm keep for a gate what an earlier one fetched, not what an author's npm has", () =>
    Effect.gen(function* () {
      const here = yield* scene
      mkdirSync(join(here.workspace, "package"))
      writeFileSync(join(here.workspace, "package", "package.json"), '{"name":"poisoned","version":"1.0.0"}')
      execFileSync("tar", ["czf", "poisoned.tgz", "package"], { cwd: here.workspace })
      const list = "npm cache ls 2>/dev/null | grep -c poisoned"
      const add = "npm cache add ./poisoned.tgz 2>/dev/null"
      const found = yield* told(here, [
        ["author", add],
        ["r1", list],
        ["r1", add],
        ["r1", list],
        ["r2", list]
      ]).pipe(Effect.provide(layerOf(here)))
      assert.deepStrictEqual(found, ["", "0", "", "1", "0"])
    })
  )

  it.live.skipIf(!hasCargo)("of Cargo hold no compiler that an author or an earlier gate has named", () =>
    Effect.gen(function* () {
      const here = yield* scene
      mkdirSync(join(here.workspace, "src"))
      writeFileSync(join(here.workspace, "Cargo.toml"), '[package]\nname = "a"\nversion = "1.0.0"\nedition = "2021"\n')
      writeFileSync(join(here.workspace, "src", "main.rs"), "fn main() {}\n")
      const wrapper = join(here.workspace, "wrapper")
      writeFileSync(wrapper, '#!/bin/sh\necho obeyed >> "$OBEYED"\nexec "$@"\n', { mode: 0o755 })
      const name = `mkdir -p "$CARGO_HOME"; printf '[build]\\nrustc-wrapper = "${wrapper}"\\n' > "$CARGO_HOME/config.toml"`
      const build = `export OBEYED=/tmp/obeyed; rm -rf target; cargo build --quiet --offline; ls target/debug/a; cat /tmp/obeyed 2>/dev/null | head -1`
      const [, ofAuthor, afterAuthor, , afterGate] = yield* told(here, [
        ["author", name],
        ["author", build],
        ["r1", build],
        ["r1", name],
        ["r1", build]
      ]).pipe(Effect.provide(layerOf(here)))
      assert.deepStrictEqual(lines(ofAuthor), ["target/debug/a", "obeyed"])
      assert.deepStrictEqual(lines(afterAuthor), ["target/debug/a"])
      assert.deepStrictEqual(lines(afterGate), ["target/debug/a"])
    })
  )

  it.live("of a workspace that is gone, and of earlier versions, are removed", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const second = { ...here, workspace: join(here.home, "second") }
      const folder = join(here.stateDirectory, "sandbox", ".git", "caches")
      const earlier = join(here.stateDirectory, "sandbox", "caches")
      for (const one of [folder, earlier]) mkdirSync(join(one, "cargo", "bin"), { recursive: true })
      yield* Effect.gen(function* () {
        yield* told(here, [["author", "true"]])
        yield* told(second, [["r1", "true"]])
      }).pipe(Effect.provide(layerOf(here)))
      rmSync(second.workspace, { recursive: true })
      // One folder, and which workspace it is of.
      yield* Effect.sync(() => (existsSync(earlier) ? undefined : readdirSync(folder).length)).pipe(
        Effect.repeat({ until: (entries) => entries === 2, schedule: Schedule.spaced("20 millis") }),
        Effect.provide(layerOf(here))
      )
    })
  )
})

describe("the folders of the caches", () => {
  it.live("are emptied without following a link that a gate left", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const of = { folder: join(here.home, "caches"), id: "w", workspace: here.workspace }
      const own = join(of.folder, "w", "gates-r1")
      mkdirSync(join(own, "cargo"), { recursive: true })
      mkdirSync(join(here.home, "data"))
      writeFileSync(join(here.home, "data", "mine"), "")
      for (const path of ["cargo/registry", "cargo/config.toml", "npm", "bun"])
        symlinkSync(join(here.home, "data"), join(own, path))
      yield* Effect.promise(() => makeGateCaches(of, "r1"))
      assert.deepStrictEqual(readdirSync(own), ["cargo"])
      assert.deepStrictEqual(readdirSync(join(own, "cargo")), [])
      assert.isTrue(existsSync(join(here.home, "data", "mine")))
    })
  )

  // Whoever runs as root may list everything; for all others the gate has hidden its file.
  it.live("are emptied where a gate took the rights to list and to write away", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const of = { folder: join(here.home, "caches"), id: "w", workspace: here.workspace }
      const own = join(of.folder, "w", "gates-r1")
      mkdirSync(join(own, "cargo", "registry", "cache"), { recursive: true })
      writeFileSync(join(own, "cargo", "config.toml"), "")
      for (const path of ["cargo/registry", "cargo", "."]) chmodSync(join(own, path), 0o111)
      yield* Effect.promise(() => makeGateCaches(of, "r1"))
      assert.deepStrictEqual(readdirSync(join(own, "cargo")), ["registry"])
      assert.deepStrictEqual(readdirSync(join(own, "cargo", "registry")), ["cache"])
    })
  )

  it.live("are emptied where a gate left a path that is longer than the system takes", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const of = { folder: join(here.home, "caches"), id: "w", workspace: here.workspace }
      const own = join(of.folder, "w", "gates-r1")
      mkdirSync(join(own, "npm"), { recursive: true })
      const deeper = 'fs.mkdirSync("a".repeat(200)); process.chdir("a".repeat(200))'
      execFileSync(process.execPath, ["-e", `for (let n = 0; n < 40; n++) { ${deeper} }`], { cwd: join(own, "npm") })
      yield* Effect.promise(() => makeGateCaches(of, "r1"))
      yield* Effect.promise(() => makeGateCaches(of, "r2"))
      assert.deepStrictEqual(readdirSync(join(of.folder, "w")), ["gates-r2"])
    })
  )

  it.live("are removed also where a tool took the right to write away", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const folder = join(here.home, "caches")
      mkdirSync(join(folder, "w", "agents", "go-mod", "a"), { recursive: true })
      writeFileSync(join(folder, "w", "agents", "go-mod", "a", "b.go"), "")
      execFileSync("chmod", ["-R", "a-w", join(folder, "w")])
      yield* Effect.promise(() => removeUnusedCaches(folder))
      assert.deepStrictEqual(readdirSync(folder), [])
    })
  )
})
