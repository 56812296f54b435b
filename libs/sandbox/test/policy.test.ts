import { assert, describe, it } from "@effect/vitest"
import { bubblewrapArguments } from "../src/command/bubblewrap.ts"
import type { Keeping } from "../src/command/keepNames.ts"
import { dispatchingShell, openShell, sandboxedShell } from "../src/command/shellScript.ts"
import { registriesFor } from "../src/network/registries.ts"
import { requireClearPaths } from "../src/policy/clearPaths.ts"
import { commandFiles } from "../src/policy/commandFiles.ts"
import { type Policy, policyFor, type Surroundings, seenAs } from "../src/policy/policy.ts"

const around: Surroundings = {
  home: "/home/me",
  workspace: "/home/me/work",
  stateDirectory: "/home/me/work/.reprise",
  temporary: "/home/me/work/.reprise/sandbox/temporary/1",
  caches: "/home/me/work/.reprise/sandbox/caches",
  refused: "/home/me/work/.reprise/sandbox/refused",
  git: {
    directory: "/home/me/work/.git",
    common: "/home/me/work/.git",
    executable: [],
    obeyed: []
  },
  listed: [],
  startup: [],
  hidden: [
    { path: "/home/me/.ssh", kind: "folder" },
    { path: "/home/me/.netrc", kind: "file" }
  ],
  write: [],
  read: [],
  commandFiles: ["/home/me/work/reprise.toml"],
  present: [],
  anchors: { folders: [], links: [], missing: [] },
  sockets: [],
  registries: ["registry.npmjs.org"]
}
const none = { write: [], read: [], deny: [], network: [] }

const shownAs = (policy: Policy, path: string) => seenAs(policy, path)?.as ?? "readable"

const table: ReadonlyArray<readonly [string, string, Partial<Surroundings>]> = [
  ["/home/me/work/src/a.ts", "writable", {}],
  ["/home/me/work/.git/index", "readable", {}],
  ["/home/me/work/reprise.toml", "readable", {}],
  ["/home/me/work/.reprise/endpoint.json", "hidden-folder", {}],
  ["/home/me/work/.reprise/sandbox/caches/npm", "writable", {}],
  ["/home/me/work/.reprise/sandbox/programs/shell", "hidden-folder", {}],
  ["/tmp/a", "writable", {}],
  ["/etc/hosts", "readable", {}],
  ["/home/me/other/file", "readable", {}],
  ["/home/me/.ssh/id_ed25519", "hidden-folder", {}],
  ["/home/me/.netrc", "hidden-file", {}],
  ["/home/me/.netrc", "readable", { read: ["/home/me/.netrc"] }],
  ["/home/me/.ssh/known_hosts", "readable", { read: ["/home/me/.ssh/known_hosts"] }],
  ["/home/me/.ssh/id_ed25519", "hidden-folder", { read: ["/home/me/.ssh/known_hosts"] }],
  ["/home/me/data/a", "writable", { write: ["/home/me/data"] }],
  // Whatever is allowed, keys stay hidden and hooks as they are.
  ["/home/me/.ssh/id_ed25519", "hidden-folder", { write: ["/home/me", "/home/me/.ssh"] }],
  ["/home/me/work/.git/refs/a", "readable", { write: ["/", "/home/me/work/.git", "/home/me/work/.git/refs"] }],
  ["/home/me/work/.reprise/endpoint.json", "hidden-folder", { read: ["/home/me"], write: ["/"] }],
  ["/home/me/agent.sock", "hidden-file", { sockets: ["/home/me/agent.sock"] }],
  // What protects a file shows it nowhere that it is not seen.
  [
    "/home/me/work/.vscode/settings.json",
    "hidden-folder",
    {
      hidden: [{ path: "/home/me/work/.vscode", kind: "folder" }],
      commandFiles: ["/home/me/work/.vscode/settings.json"]
    }
  ],
  ["/home/me/.ssh/settings.json", "hidden-folder", { commandFiles: ["/home/me/.ssh/settings.json"] }],
  ["/home/me/work/secrets/a", "hidden-folder", { hidden: [{ path: "/home/me/work/secrets", kind: "folder" }] }]
]

describe("a policy", () => {
  it.each(table)("shows %s as %s", (path, expected, changes) => {
    assert.strictEqual(shownAs(policyFor({ ...around, ...changes }, none, "author"), path), expected)
  })

  it("shows a worktree as writable but for what is denied in it, and neither the repository's checkout nor other worktrees", () => {
    const worktree = "/home/me/work/.reprise/worktrees/r1"
    const policy = policyFor(
      {
        ...around,
        workspace: worktree,
        git: {
          directory: "/home/me/work/.git/worktrees/r1",
          common: "/home/me/work/.git",
          pointer: `${worktree}/.git`,
          executable: [],
          obeyed: []
        },
        commandFiles: [],
        hidden: [{ path: `${worktree}/secrets`, kind: "folder" }]
      },
      none,
      "author"
    )
    assert.strictEqual(shownAs(policy, `${worktree}/a`), "writable")
    assert.strictEqual(shownAs(policy, `${worktree}/.git`), "readable")
    assert.strictEqual(shownAs(policy, "/home/me/work/.git/objects/aa"), "readable")
    assert.strictEqual(shownAs(policy, "/home/me/work/a"), "readable")
    assert.strictEqual(shownAs(policy, "/home/me/work/.reprise/worktrees/r2/a"), "hidden-folder")
    assert.strictEqual(shownAs(policy, `${worktree}/secrets/a`), "hidden-folder")
    assert.include(policy.kept, `${worktree}/reprise.local.toml`)
  })

  it.each(["\n", "\r", "\u001b", "\u2028"])("is refused where a protected path has %j in its name", (character) => {
    const commandFiles = [`/home/me/work/x${character}/home/me/.bashrc/hooks`]
    const policy = policyFor({ ...around, commandFiles }, none, "author")
    assert.throws(() => requireClearPaths(policy), /control character in its name.*remove it/)
    requireClearPaths(policyFor(around, none, "author"))
  })

  it("lets an author reach what is configured and the project's registries, and a reviewer nothing", () => {
    const settings = { ...none, network: ["example.org"] }
    assert.deepStrictEqual(policyFor(around, settings, "author").network, ["example.org", "registry.npmjs.org"])
    assert.deepStrictEqual(policyFor(around, settings, "reviewer").network, [])
  })

  it("names the files that would grant something, whether they exist or not", () => {
    const { kept } = policyFor(around, none, "author")
    for (const name of [...commandFiles, "HEAD"]) {
      assert.include(kept, `/home/me/work/${name}`)
    }
  })

  it("shows a clone in the place of git's directory whatever may be written, and the directory itself to others", () => {
    const git = "/home/me/work/.git"
    const mount = { path: git, as: "writable", from: "/clones/1" } as const
    const places = { directory: git, common: git, executable: [], obeyed: [] }
    const write = ["/", "/home/me/work", git, `${git}/refs`]
    const policyOf = (more: Partial<typeof places & { readonly clone: ReadonlyArray<typeof mount> }>) =>
      policyFor({ ...around, git: { ...places, ...more }, write }, none, "author")
    const cloned = policyOf({ clone: [mount] })
    assert.deepStrictEqual(seenAs(cloned, `${git}/refs/heads/main`), mount)
    assert.isUndefined(cloned.environment["GIT_OPTIONAL_LOCKS"])
    const direct = policyOf({})
    assert.strictEqual(shownAs(direct, `${git}/refs/heads/main`), "readable")
    assert.strictEqual(direct.environment["GIT_OPTIONAL_LOCKS"], "0")
    assert.strictEqual(shownAs(direct, "/home/me/work/docs/review.md"), "writable")
  })

  it("keeps what git obeys, where a command could write it", () => {
    const obeyed = ["/home/me/work/shared.gitconfig", "/home/me/.gitconfig-work"]
    const git = {
      directory: "/home/me/work/.git",
      common: "/home/me/work/.git",
      executable: [],
      obeyed
    }
    const { kept } = policyFor({ ...around, git }, none, "author")
    assert.include(kept, "/home/me/work/shared.gitconfig")
    assert.notInclude(kept, "/home/me/.gitconfig-work")
  })

  it("keeps what git obeys where the settings let a command write, and mounts nothing that it could not write", () => {
    const git = {
      directory: "/home/me/work/.git",
      common: "/home/me/work/.git",
      executable: ["/home/me/shared/gitconfig", "/etc/gitconfig"],
      obeyed: ["/home/me/shared/absent.gitconfig"]
    }
    const policy = policyFor({ ...around, git, write: ["/home/me/shared"] }, none, "author")
    assert.include(policy.kept, "/home/me/shared/absent.gitconfig")
    assert.strictEqual(shownAs(policy, "/home/me/shared/gitconfig"), "readable")
    assert.isFalse(policy.mounts.some(({ path }) => path === "/etc/gitconfig"))
  })

  it("holds the folders above what is protected in their place, but lets nobody write there who could not", () => {
    const folders = ["/home/me/work/conf", "/home/me/work/conf/a", "/home/me/work/conf/hooks/deep", "/home/me/a"]
    const commandFiles = ["/home/me/work/conf/hooks"]
    const anchors = { folders, links: [], missing: [] }
    const { mounts } = policyFor({ ...around, commandFiles, anchors }, none, "author")
    const anchored = mounts.filter(({ as, path }) => as === "writable" && folders.includes(path))
    assert.deepStrictEqual(
      [...new Set(anchored.map(({ path }) => path))],
      ["/home/me/work/conf", "/home/me/work/conf/a"]
    )
  })

  it("keeps a home that lies in a folder of the machine", () => {
    const policy = policyFor(
      { ...around, home: "/tmp/home", hidden: [{ path: "/tmp/home/.ssh", kind: "folder" }] },
      none,
      "author"
    )
    assert.strictEqual(shownAs(policy, "/tmp/home/.gitconfig"), "readable")
    assert.strictEqual(shownAs(policy, "/tmp/home/.ssh/id"), "hidden-folder")
  })
})

describe("registries", () => {
  it("are the well-known ones of the files in the top folder", () => {
    assert.deepStrictEqual(registriesFor([]), [])
    assert.deepStrictEqual(registriesFor(["package.json"]), ["registry.npmjs.org", "registry.yarnpkg.com"])
    assert.deepStrictEqual(registriesFor(["a.csproj", "b.csproj"]), ["api.nuget.org"])
    assert.include(registriesFor(["Cargo.toml", "go.mod"]), "proxy.golang.org")
    assert.deepStrictEqual(registriesFor(["constructor", "__proto__", "toString"]), [])
  })
})

describe("a folder in which something is hidden", () => {
  const home = {
    path: "/home/me",
    entries: [{ name: ".netrc" }, { name: ".ssh" }, { name: "a", target: "b" }, { name: "b" }]
  }
  const wordsOf = (more: Partial<Surroundings>, settings = none) =>
    bubblewrapArguments(policyFor({ ...around, listed: [home], ...more }, settings, "author"))
      .flatMap(({ words }) => words)
      .join(" ")

  it("is seen with what is not hidden, so that nothing is there to end a mount of", () => {
    const words = wordsOf({})
    assert.include(words, "--tmpfs /home/me --symlink b /home/me/a --ro-bind-try /home/me/b /home/me/b")
    for (const path of ["/home/me/.netrc", "/home/me/.ssh"]) assert.notInclude(words, path)
    assert.isBelow(words.indexOf("--tmpfs /home/me "), words.indexOf("--bind-try /home/me/work "))
    assert.include(words, "--remount-ro /home/me")
  })

  it("has the files that are shown again", () => {
    assert.include(wordsOf({ read: ["/home/me/.netrc"] }), "--ro-bind-try /home/me/.netrc /home/me/.netrc")
  })

  it("lies in another one with nothing of the machine's below it", () => {
    const listed = [home, { path: "/home/me/b", entries: [{ name: "c" }] }]
    const words = wordsOf({ listed, hidden: [{ path: "/home/me/b/keys", kind: "folder" }] })
    assert.include(words, "--tmpfs /home/me/b --ro-bind-try /home/me/b/c /home/me/b/c")
    assert.notInclude(words, "/home/me/b /home/me/b")
    assert.notInclude(words, "/home/me/b/keys")
  })

  it.each(["/home/me/.netrc", "/home/me/.ssh"])(
    "hides %s also where the settings say that it may be written",
    (path) => {
      const words = wordsOf({ write: [path] })
      const hides = path.endsWith("ssh") ? `--tmpfs ${path}` : `--ro-bind /dev/null ${path}`
      assert.isAbove(words.indexOf(hides), words.indexOf(`--bind-try ${path} ${path}`))
    }
  )

  it("is the machine's own where commands may write it, with the files hidden one by one", () => {
    const words = wordsOf({ write: ["/home/me"] })
    assert.notInclude(words, "--tmpfs /home/me ")
    assert.include(words, "--ro-bind /dev/null /home/me/.netrc")
  })
})

describe("the program that stands in for a shell", () => {
  const policy = policyFor(around, none, "reviewer")
  const reports = { socket: "/run/reports", folder: "/state/heard" }
  const keeping: Keeping = {
    folder: "/state/heard",
    files: [],
    folders: { paths: [], copied: [], stamp: "/state/held/stamp" },
    keeper: "/run/keeper"
  }
  const programs = { own: "/state/programs", outside: "/usr/bin:/bin", inTree: { path: "", variables: {} } }
  const options = {
    policy,
    shell: "/bin/bash",
    bubblewrap: { path: "/usr/bin/bwrap", isEnclosed: true },
    reports,
    dependencies: "/state/dependencies",
    looked: "/state/looked",
    keeping,
    programs
  }
  const text = sandboxedShell(options)

  it("enters bubblewrap with namespaces of its own, and hidden folders that cannot be written", () => {
    const words = bubblewrapArguments(policy).flatMap((some) => some.words)
    for (const word of ["--unshare-user", "--disable-userns", "--unshare-pid", "--unshare-net", "--die-with-parent"]) {
      assert.include(words, word)
    }
    assert.include(words.join(" "), "--remount-ro /home/me/work/.reprise")
    assert.notInclude(text, "socat TCP4-LISTEN")
  })

  it("quotes every path", () => {
    const odd = "/home/me/it's; rm -rf $HOME `x`"
    const named = sandboxedShell({
      ...options,
      policy: { ...policy, mounts: [{ path: odd, as: "writable" }], kept: [odd] },
      keeping: {
        ...keeping,
        files: [{ path: odd, held: "/state/heard/held/1" }],
        folders: { ...keeping.folders, paths: [odd], copied: [odd] }
      }
    })
    assert.include(named, `--bind-try '/home/me/it'\\''s; rm -rf $HOME \`x\`' '/home/me/it'\\''s; rm -rf $HOME \`x\`'`)
    assert.notMatch(named, /echo "[^"]*[$`]/)
  })

  it("runs nothing for a session in whose folder nobody works", () => {
    assert.match(dispatchingShell("/state/places"), /exit 126\n$/)
  })

  it("takes no variable from a quality gate, whose variables were chosen", () => {
    assert.include(sandboxedShell(options), "*TOKEN*")
    assert.notInclude(sandboxedShell({ ...options, chosenEnvironment: true }), "*TOKEN*")
  })

  it("takes passwords away also where the sandbox does not cover a session", () => {
    assert.include(openShell("/bin/bash", programs), "OPENCODE_SERVER_*")
  })
})
