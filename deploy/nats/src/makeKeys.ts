/**
 * Makes the keys of a NATS cluster in a folder: a seed for each identity, their public keys for the servers, and the
 * certificates of the servers. Existing files stay as they are, so it can be run again, also after it was killed.
 */
import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { isIP } from "node:net"
import { join } from "node:path"
import { type Identity, identities, keyVariable, newSeed, publicKeyOf, seedIn } from "@reprise/nats"
import { Redacted } from "effect"

const owners: ReadonlyArray<Identity | "system"> = [...identities, "system"]

const days = { ca: 3650, server: 825 }

/** Where the servers of the manifests are found. */
const standardNames = ["nats", "nats.reprise.svc", "nats-servers", "*.nats-servers", "localhost", "127.0.0.1"]

export interface Made {
  readonly path: string
  readonly outcome: "made" | "kept"
}

/** Appears in one step and with its mode, or not at all. */
const writePrivate = (path: string, text: string): void => {
  const unfinished = `${path}.new`
  rmSync(unfinished, { force: true })
  writeFileSync(unfinished, text, { mode: 0o600, flag: "wx" })
  renameSync(unfinished, path)
}

const makeSeeds = (folder: string): ReadonlyArray<Made> =>
  owners.map((owner) => {
    const path = join(folder, `${owner}.nk`)
    if (existsSync(path)) return { path, outcome: "kept" }
    writePrivate(path, `${Redacted.value(newSeed())}\n`)
    return { path, outcome: "made" }
  })

const publicKeyIn = (path: string): string => {
  const seed = seedIn(readFileSync(path, "utf8"))
  if (seed === undefined) throw new Error(`${path} contains no seed of a user's nkey. Remove it to get a new one.`)
  return publicKeyOf(seed)
}

/** Follows from the seeds, so it is written again: a seed may have been replaced. */
const writePublicKeys = (folder: string): Made => {
  const path = join(folder, "public.env")
  const text = owners.map((owner) => `${keyVariable(owner)}=${publicKeyIn(join(folder, `${owner}.nk`))}\n`).join("")
  if (existsSync(path) && readFileSync(path, "utf8") === text) return { path, outcome: "kept" }
  writePrivate(path, text)
  return { path, outcome: "made" }
}

/** The paths of a key and its certificate. */
type Pair = readonly [key: string, certificate: string]

/** Makes a key and its certificate in the files `key` and `certificate`. */
const certify = (
  subject: string,
  validDays: number,
  [key, certificate]: Pair,
  more: ReadonlyArray<string> = []
): void => {
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-keyout", key]
  const request = ["-x509", "-out", certificate, "-days", `${validDays}`, "-subj", `/CN=${subject}`]
  execFileSync("openssl", ["req", ...newKey, ...request, ...more], { stdio: ["ignore", "ignore", "pipe"] })
}

/** A key and a certificate, both or none: the certificate comes last. */
const makePair = (folder: string, name: string, make: (pair: Pair) => void): ReadonlyArray<Made> => {
  const [key, certificate] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)]
  if (existsSync(certificate) && existsSync(key)) {
    return [key, certificate].map((path) => ({ path, outcome: "kept" }))
  }
  const scratch = mkdtempSync(join(folder, `.${name}-`))
  try {
    const made: Pair = [join(scratch, "key"), join(scratch, "crt")]
    make(made)
    for (const path of made) chmodSync(path, 0o600)
    renameSync(made[0], key)
    renameSync(made[1], certificate)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
  return [key, certificate].map((path) => ({ path, outcome: "made" }))
}

const makeCertificates = (folder: string, names: ReadonlyArray<string>): ReadonlyArray<Made> => {
  const alternatives = [...standardNames, ...names].map((name) => `${isIP(name) === 0 ? "DNS" : "IP"}:${name}`)
  const authority = makePair(folder, "ca", (pair) => certify("Reprise NATS", days.ca, pair))
  const server = makePair(folder, "server", (pair) =>
    certify("nats", days.server, pair, [
      ...["-CA", join(folder, "ca.crt"), "-CAkey", join(folder, "ca.key")],
      ...["-addext", `subjectAltName=${alternatives.join(",")}`],
      ...["-addext", "extendedKeyUsage=serverAuth,clientAuth", "-addext", "basicConstraints=critical,CA:FALSE"]
    ])
  )
  return [...authority, ...server]
}

/** `names`: further names and addresses of the servers. Needs openssl 3 for the certificates. */
export const makeKeys = (folder: string, names: ReadonlyArray<string> = []): ReadonlyArray<Made> => {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return [...makeSeeds(folder), writePublicKeys(folder), ...makeCertificates(folder, names)]
}
