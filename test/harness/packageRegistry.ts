/** A registry of npm packages that offers one package, which is installed here already. */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { dirname, join } from "node:path"
import { Effect } from "effect"

export interface OfferedPackage {
  readonly name: string
  readonly version: string
  /** Its program, which is copied; npm would take it from a package for this platform. */
  readonly program: string
  /** Where the program lies in the package. */
  readonly bin: Readonly<Record<string, string>>
}

/** Not compressed: the program is large. */
const pack = (folder: string, { bin, name, program, version }: OfferedPackage): Buffer => {
  const root = join(folder, "package")
  const [at = "program"] = Object.values(bin)
  mkdirSync(dirname(join(root, at)), { recursive: true })
  cpSync(program, join(root, at))
  writeFileSync(join(root, "package.json"), JSON.stringify({ name, version, bin }))
  execFileSync("tar", ["-cf", join(folder, "package.tar"), "-C", folder, "package"])
  return readFileSync(join(folder, "package.tar"))
}

/** Answers until the scope closes. Gives its address. */
export const packageRegistry = Effect.fn("packageRegistry")(function* (folder: string, offered: OfferedPackage) {
  const tarball = pack(folder, offered)
  const { bin, name, version } = offered
  const server = createServer((request, response) => {
    if (request.url === `/${name}`) {
      const { port } = server.address() as AddressInfo
      const dist = {
        tarball: `http://127.0.0.1:${port}/package.tar`,
        integrity: `sha512-${createHash("sha512").update(tarball).digest("base64")}`
      }
      const versions = { [version]: { name, version, bin, dist } }
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify({ name, "dist-tags": { latest: version }, versions }))
    } else if (request.url === "/package.tar") response.end(tarball)
    else {
      response.statusCode = 404
      response.end("{}")
    }
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.sync(() => server.close())
  )
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
})
