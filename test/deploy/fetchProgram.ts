/** `node test/deploy/fetchProgram.ts NAME` fetches a program from Debian, for CI on a machine without it, and prints its folder. */
import { dirname, join } from "node:path"
import { userCacheFolder } from "@reprise/process"
import { partOfPackage } from "./debianPackage.ts"

/** Where each is in the package of its name. */
const programs = new Map([
  ["kubectl", "usr/bin/kubectl"],
  ["docker-compose", "usr/libexec/docker/cli-plugins/docker-compose"]
])

const [name = ""] = process.argv.slice(2)
const path = programs.get(name)
if (path === undefined) {
  process.stderr.write(`Usage: node test/deploy/fetchProgram.ts ${[...programs.keys()].join("|")}\n`)
  process.exitCode = 2
} else {
  const target = join(userCacheFolder(process.env), name, name)
  process.stdout.write(`${dirname(await partOfPackage({ name, path, target }))}\n`)
}
