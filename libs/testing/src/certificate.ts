/** A certificate that programs of this process trust while a scope is open. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { Effect } from "effect"

const days = 2

/** For `localhost` and the address 0.0.0.0, which leads to this machine without being one of its loopback. */
export const makeCertificate = (): { readonly key: string; readonly cert: string } => {
  const folder = mkdtempSync(join(tmpdir(), "certificate-"))
  const [key, cert] = [join(folder, "key"), join(folder, "cert")]
  try {
    execFileSync(
      "openssl",
      [
        ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-keyout", key],
        ...["-out", cert, "-days", `${days}`, "-subj", "/CN=localhost"],
        ...["-addext", "subjectAltName=DNS:localhost,IP:0.0.0.0"]
      ],
      { stdio: ["ignore", "ignore", "pipe"] }
    )
    return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Until the scope closes. */
export const trusting = (cert: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = getCACertificates("default")
      setDefaultCACertificates([...before, cert])
      return before
    }),
    (before) => Effect.sync(() => setDefaultCACertificates(before))
  )
