/** For tests: a machine with keys, listeners and a process, and a repository to work in, for `testing/index.ts`. */
import { execFileSync, spawn } from "node:child_process"
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:net"
import { userInfo } from "node:os"
import { join } from "node:path"

export const canary = "c4n4ry-of-the-sandbox"

/** A home with keys, a repository to work in, and another one. */
export interface Scene {
  readonly home: string
  readonly workspace: string
  readonly stateDirectory: string
  readonly victim: number
  readonly port: number
  readonly socket: string
  readonly agentSocket: string
  readonly abstractSocket: string
  readonly close: () => void
}

const git = (directory: string, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-C", directory, ...args], {
    encoding: "utf8",
    stdio: "pipe",
    env: { ...process.env, HOME: directory }
  })

const repository = (directory: string) => {
  mkdirSync(directory, { recursive: true })
  git(directory, "init", "-q")
  git(directory, "config", "user.email", "scene@reprise.invalid")
  git(directory, "config", "user.name", "Scene")
  writeFileSync(join(directory, "reprise.toml"), "")
  writeFileSync(join(directory, "opencode.json"), "{}")
  mkdirSync(join(directory, ".claude"))
  writeFileSync(join(directory, ".claude", "settings.json"), "{}")
  writeFileSync(join(directory, ".gitignore"), ".reprise/\nout-*\n")
  git(directory, "add", ".")
  git(directory, "commit", "-qm", "first")
}

/** Up to the root, from wherever. */
const toRoot = "../../../../../.."

/** As people write it, and git reads it: with comments, quotes, continued lines and conditions that do not hold. */
const configurationByHand = (workspace: string) => `
[include]
	path = ../commented.gitconfig # shared
	path = "../quo;ted.gitconfig" ; with a sign of a comment
	path = ../conti\\
nued.gitconfig
	path = ~/../work/tilde.gitconfig
	path = ~${userInfo().username}/${toRoot}${workspace}/user.gitconfig
	path = %(prefix)/${toRoot}${workspace}/prefix.gitconfig
	path = ../chain.gitconfig
[includeIf "onbranch:another"]
	path = ../branch.gitconfig
[includeIf "gitdir:/nowhere/"]
	path = ../gitdir.gitconfig
[includeIf "gitdir/i:/NOWHERE/"]
	path = ../gitdir-i.gitconfig
[includeIf "hasconfig:remote.*.url:https://nowhere.invalid/**"]
	path = ../remote.gitconfig
[core]
	hooksPath = .githooks ; ours
	attributesFile = conf/attributes
	excludesFile = conf/ignored # theirs
	sshCommand = tools/ssh.sh -v
[init]
	templateDir = conf/template
[gpg "ssh"]
	allowedSignersFile = conf/signers
[http "https://example.org"]
	sslCAInfo = conf/roots.pem
[filter "own"]
	clean = node tools/clean.js %f
	smudge = sh -c 'exec ./tools/smudge "$@"'
[alias]
	own = "!tools/alias.sh"
[credential "https://example.org"]
	helper = "!f() { ./tools/credential; }; f"
`

/** What git obeys besides its configuration, and settings of agents that are a link. */
const furnish = (workspace: string, home: string) => {
  const inWorkspace = (path: string, text: string) => {
    mkdirSync(join(workspace, path, ".."), { recursive: true })
    writeFileSync(join(workspace, path), text)
  }
  inWorkspace("shared.gitconfig", "[alias]\n\tst = status\n")
  inWorkspace("conf/deep.gitconfig", "")
  inWorkspace("chain.gitconfig", '[includeIf "onbranch:another"]\n\tpath = conf/chained.gitconfig\n')
  for (const name of ["ssh.sh", "clean.js", "smudge", "pre-push"]) inWorkspace(`tools/${name}`, "# theirs\n")
  inWorkspace("tools/hooks/README", "none yet\n")
  inWorkspace("settings/mcp.json", '{"mcpServers":{}}')
  symlinkSync("settings/mcp.json", join(workspace, ".mcp.json"))
  git(workspace, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", join(home, "other"), "sub")
  git(workspace, "add", ".")
  git(workspace, "commit", "-qm", "second")
  git(workspace, "worktree", "add", "-q", "-b", "second", join(home, "second"))
  git(workspace, "config", "extensions.worktreeConfig", "true")
  for (const name of ["../shared.gitconfig", "../absent.gitconfig", "../conf/deep.gitconfig"]) {
    git(workspace, "config", "--add", "include.path", name)
  }
  // The last one counts, but each could.
  for (const name of [".husky/_", "tools/hooks", ".git/hooks"])
    git(workspace, "config", "--add", "core.hooksPath", name)
  appendFileSync(join(workspace, ".git", "config"), configurationByHand(workspace))
  git(workspace, "config", "--file", ".git/modules/sub/config", "core.hooksPath", "own-hooks")
  mkdirSync(join(home, ".config", "git"), { recursive: true })
  writeFileSync(join(home, ".config", "git", "config"), `[include]\n\tpath = ${workspace}/xdg.gitconfig\n`)
  writeFileSync(join(home, ".gitconfig"), `[include]\n\tpath = ${workspace}/home.gitconfig # mine\n`)
  symlinkSync("../../tools/pre-push", join(workspace, ".git", "hooks", "pre-push"))
  inWorkspace(".git/annex/creds/remote", `${canary}\n`)
}

/** Whoever reaches it is answered with the canary. */
const answering = (at: string | number): Server => {
  const server = createServer((socket) => {
    socket.on("error", () => undefined)
    socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${canary}\n`)
  })
  if (typeof at === "number") server.listen(at, "127.0.0.1")
  else server.listen(at)
  return server
}

export const makeScene = async (root: string): Promise<Scene> => {
  const home = join(root, "home")
  const workspace = join(root, "work")
  const stateDirectory = join(workspace, ".reprise")
  repository(workspace)
  repository(join(home, "other"))
  furnish(workspace, home)
  for (const [path, text] of Object.entries({
    ".ssh/id_ed25519": canary,
    ".aws/credentials": canary,
    ".config/reprise/trust.json": canary,
    ".config/gh/hosts.yml": canary,
    ".netrc": canary,
    ".npmrc": canary,
    ".docker/config.json": canary,
    ".kube/config": canary,
    ".git-credentials": `https://me:${canary}@example.org`,
    ".bashrc": "# mine",
    ".profile": "# mine"
  })) {
    mkdirSync(join(home, path, ".."), { recursive: true })
    writeFileSync(join(home, path), `${text}\n`)
  }
  mkdirSync(join(stateDirectory, "logs"), { recursive: true })
  writeFileSync(join(stateDirectory, "endpoint.json"), canary)
  symlinkSync(join(home, ".ssh"), join(home, "keys"))
  const socket = join(home, "the agent.sock")
  const agents = mkdtempSync(join("/tmp", "reprise-ssh-"))
  const agentSocket = join(agents, "agent.1")
  const abstractSocket = `reprise-scene-${process.pid}-${Date.now()}`
  const servers = [answering(0), answering(socket), answering(agentSocket), answering(`\0${abstractSocket}`)]
  await Promise.all(servers.map((server) => new Promise((resolve) => server.once("listening", resolve))))
  const address = servers[0]?.address()
  const victim = spawn("sleep", ["3600"], { stdio: "ignore", env: { PATH: process.env["PATH"], CANARY: canary } })
  return {
    home,
    workspace,
    stateDirectory,
    victim: victim.pid ?? 0,
    port: typeof address === "object" && address !== null ? address.port : 0,
    socket,
    agentSocket,
    abstractSocket,
    close: () => {
      victim.kill("SIGKILL")
      for (const server of servers) server.close()
      rmSync(agents, { recursive: true, force: true })
    }
  }
}
