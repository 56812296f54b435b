/** For tests: a machine with keys, listeners and a process, and a repository to work in, for `testing.ts`. */
import { execFileSync, spawn } from "node:child_process"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:net"
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
  git(workspace, "config", "extensions.worktreeConfig", "true")
  for (const name of ["../shared.gitconfig", "../absent.gitconfig"]) {
    git(workspace, "config", "--add", "include.path", name)
  }
  writeFileSync(join(workspace, "shared.gitconfig"), "[alias]\n\tst = status\n")
  repository(join(home, "other"))
  for (const [path, text] of Object.entries({
    ".ssh/id_ed25519": canary,
    ".aws/credentials": canary,
    ".config/reprise/trust.json": canary,
    ".config/gh/hosts.yml": canary,
    ".netrc": canary,
    ".npmrc": canary,
    ".docker/config.json": canary,
    ".kube/config": canary,
    ".bashrc": "# mine"
  })) {
    mkdirSync(join(home, path, ".."), { recursive: true })
    writeFileSync(join(home, path), `${text}\n`)
  }
  mkdirSync(join(stateDirectory, "logs"), { recursive: true })
  writeFileSync(join(stateDirectory, "endpoint.json"), canary)
  symlinkSync(join(home, ".ssh"), join(home, "keys"))
  const socket = join(home, "agent.sock")
  const abstractSocket = `reprise-scene-${process.pid}-${Date.now()}`
  const servers = [answering(0), answering(socket), answering(`\0${abstractSocket}`)]
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
    abstractSocket,
    close: () => {
      victim.kill("SIGKILL")
      for (const server of servers) server.close()
    }
  }
}
