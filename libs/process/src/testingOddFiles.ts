/** What somebody can put where a program expects a file, for tables of tests. */
import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"

export interface OddFile {
  /** As the end of a title: `a named pipe`. */
  readonly name: string
  /** What `readForeignFile` refuses it with; undefined: there is nothing to read. */
  readonly code: "ENOTAFILE" | "EFBIG" | "ELOOP" | "EACCES" | undefined
  /** Puts it at a path where there is nothing yet; gives what removes it again. */
  readonly put: (path: string) => Promise<() => void>
}

const removed = (path: string) => () => rmSync(path, { recursive: true, force: true })

const odd = (name: string, code: OddFile["code"], put: (path: string) => void): OddFile => ({
  name,
  code,
  put: async (path) => {
    put(path)
    return removed(path)
  }
})

const isRoot = process.getuid?.() === 0

const socket: OddFile = {
  name: "a socket",
  code: "ENOTAFILE",
  put: (path) =>
    new Promise((resolve, reject) => {
      const server = createServer().once("error", reject)
      server.unref().listen(path, () =>
        resolve(() => {
          server.close()
          removed(path)()
        })
      )
    })
}

/** A device of its own needs root; permissions do not hold for root. */
export const oddFiles: ReadonlyArray<OddFile> = [
  odd("a named pipe", "ENOTAFILE", (path) => execFileSync("mkfifo", [path])),
  odd("a link to a named pipe", "ENOTAFILE", (path) => {
    execFileSync("mkfifo", [`${path}.pipe`])
    symlinkSync(`${path}.pipe`, path)
  }),
  socket,
  odd("a link to /dev/zero", "ENOTAFILE", (path) => symlinkSync("/dev/zero", path)),
  odd("a directory", "ENOTAFILE", (path) => mkdirSync(path)),
  odd("a link to itself", "ELOOP", (path) => symlinkSync(path, path)),
  odd("a link that leads nowhere", undefined, (path) => symlinkSync(`${path}.missing`, path)),
  odd("a file of a terabyte", "EFBIG", (path) => {
    writeFileSync(path, "")
    truncateSync(path, 1024 ** 4)
  }),
  ...(isRoot
    ? [odd("a character device", "ENOTAFILE", (path) => execFileSync("mknod", [path, "c", "1", "5"]))]
    : [
        odd("a file without permission", "EACCES", (path) => {
          writeFileSync(path, "text")
          chmodSync(path, 0)
        })
      ])
]
