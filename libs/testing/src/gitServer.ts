/** A git server on https, with one login for everybody: git's own program answers each request. */
import { spawn } from "node:child_process"
import { timingSafeEqual } from "node:crypto"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"
import { makeCertificate } from "./certificate.ts"

export interface GitServerOptions {
  /** The folder whose repositories it serves. */
  readonly folder: string
  readonly user: string
  readonly password: string
}

export interface GitServerHandle {
  /** The address of a repository in the folder. */
  readonly urlOf: (name: string) => string
  readonly port: number
  /** The certificate that clients must trust. */
  readonly cert: string
  /** How many requests came without the login. */
  readonly refused: () => number
}

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))

/** `Name: value` lines before the first empty one; a status of its own is among them. */
const readHead = (text: string) => {
  const headers = text.split(/\r?\n/).flatMap((line) => {
    const [name = "", value] = line.split(/: (.*)/s)
    return value === undefined ? [] : [[name, value] as const]
  })
  const status = headers.find(([name]) => name === "Status")?.[1]
  return { status: Number.parseInt(status ?? "200", 10), headers: headers.filter(([name]) => name !== "Status") }
}

/** Until the scope closes. */
export const startGitServer = ({ folder, password, user }: GitServerOptions) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const { cert, key } = makeCertificate()
      const login = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`
      let refused = 0
      const server = createServer({ cert, key }, (request, response) => {
        if (!isSame(request.headers.authorization ?? "", login)) {
          refused += 1
          response.writeHead(401, { "WWW-Authenticate": 'Basic realm="git"' }).end()
          return
        }
        const [path, query = ""] = (request.url ?? "").split("?")
        const program = spawn("git", ["http-backend"], {
          env: {
            PATH: process.env["PATH"],
            GIT_PROJECT_ROOT: folder,
            GIT_HTTP_EXPORT_ALL: "1",
            REMOTE_USER: user,
            REQUEST_METHOD: request.method,
            PATH_INFO: path,
            QUERY_STRING: query,
            CONTENT_TYPE: request.headers["content-type"] ?? "",
            HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
            GIT_PROTOCOL: String(request.headers["git-protocol"] ?? "")
          },
          stdio: ["pipe", "pipe", "ignore"]
        })
        request.pipe(program.stdin)
        const parts: Array<Buffer> = []
        program.stdout.on("data", (part: Buffer) => parts.push(part))
        program.on("close", () => {
          const answer = Buffer.concat(parts)
          const end = answer.indexOf("\r\n\r\n")
          const { headers, status } = readHead(answer.subarray(0, end).toString("latin1"))
          response.writeHead(status, Object.fromEntries(headers)).end(answer.subarray(end + 4))
        })
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const { port } = server.address() as AddressInfo
      const handle: GitServerHandle = {
        urlOf: (name) => `https://localhost:${port}/${name}`,
        port,
        cert,
        refused: () => refused
      }
      return { handle, server }
    }),
    ({ server }) =>
      Effect.promise(async () => {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      })
  ).pipe(Effect.map(({ handle }) => handle))
