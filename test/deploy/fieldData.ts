/** The samples of every kind of Kubernetes 1.36, from Debian's package of its API. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { userCacheFolder } from "@reprise/process"
import { Effect, Option } from "effect"
import { parse } from "yaml"
import { partOfPackage } from "./debianPackage.ts"
import type { SampleOf } from "./fields.ts"

/** Of the API of Kubernetes 1.36: any of its corrections will do, and sid has one at a time. */
const version = "0.36"

const locate = () =>
  partOfPackage({
    name: `golang-k8s-api-dev=${version}.*`,
    path: "usr/share/gocode/src/k8s.io/api",
    target: join(userCacheFolder(process.env), "kubernetes-api", version)
  })

const samplesIn =
  (folder: string): SampleOf =>
  (apiVersion, kind) => {
    const group = apiVersion.includes("/") ? apiVersion.replace("/", ".") : `core.${apiVersion}`
    const file = join(folder, "testdata/HEAD", `${group}.${kind}.yaml`)
    return existsSync(file) ? parse(readFileSync(file, "utf8")) : undefined
  }

/** None, and a line about it, where the package is not to be had. */
export const kubernetesSamples: Effect.Effect<Option.Option<SampleOf>> = Effect.tryPromise(locate).pipe(
  Effect.map((folder) => Option.some(samplesIn(folder))),
  Effect.catch((error) => {
    const reason = String(error.cause).split("\n")[0]
    process.stdout.write(`fields of manifests: not checked, no data of Kubernetes 1.36 (${reason})\n`)
    return Effect.succeed(Option.none<SampleOf>())
  })
)
