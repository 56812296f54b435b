/** A real SMTP server on this machine that takes e-mails, and remembers what it was sent. */
import { Effect } from "effect"
import { SMTPServer, type SMTPServerDataStream } from "smtp-server"

export interface ReceivedMail {
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly isSecure: boolean
  /** Who had signed in. */
  readonly user?: string
  /** By their names in small letters, decoded. */
  readonly headers: Readonly<Record<string, string>>
  /** Decoded. */
  readonly text: string
}

export interface MailServerOptions {
  /** Default: 127.0.0.1. */
  readonly host?: string
  /** PEM. With it the server offers STARTTLS; else it takes passwords in the clear. */
  readonly certificate?: { readonly key: string; readonly cert: string }
  /** TLS from the first byte on, in place of STARTTLS. */
  readonly isTls?: boolean
  /** Without it nobody has to sign in. */
  readonly login?: { readonly user: string; readonly password: string }
  /** The status with which a recipient is refused; undefined: it is not. */
  readonly refusal?: (address: string) => number | undefined
  /** The status with which the n-th message is refused, from 1; undefined: it is taken; `never`: without an answer. */
  readonly reply?: (n: number) => number | "never" | undefined
}

export interface MailServerHandle {
  readonly port: number
  /** What it took. */
  readonly mails: ReadonlyArray<ReceivedMail>
  /** How many messages it was sent, taken or not. */
  readonly attempts: () => number
  /** The passwords that it was told, and whether the connection was secure. */
  readonly logins: ReadonlyArray<{ readonly password: string; readonly isSecure: boolean }>
}

const refusalOf = (responseCode: number) => Object.assign(new Error("words of the server"), { responseCode })

const readAll = (stream: SMTPServerDataStream, done: (source: string) => void): void => {
  const parts: Array<Buffer> = []
  stream.on("data", (part: Buffer) => parts.push(part))
  stream.on("end", () => done(Buffer.concat(parts).toString("utf8")))
}

const fromQuotedPrintable = (text: string): string => {
  const bytes = text.replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, "latin1").toString("utf8")
}

const decodedBody = (body: string, encoding: string | undefined): string => {
  if (encoding === "base64") return Buffer.from(body, "base64").toString("utf8")
  return encoding === "quoted-printable" ? fromQuotedPrintable(body.replace(/=\r?\n/g, "")) : body
}

/** Words such as `=?UTF-8?Q?caf=C3=A9?=`, and the blanks between them. */
const decodedHeader = (value: string): string =>
  value.replace(/=\?UTF-8\?([QB])\?([^?]*)\?=(?:\s+(?==\?))?/gi, (_, encoding: string, word: string) =>
    encoding.toUpperCase() === "B"
      ? Buffer.from(word, "base64").toString("utf8")
      : fromQuotedPrintable(word.replaceAll("_", " "))
  )

const parse = (source: string): Pick<ReceivedMail, "headers" | "text"> => {
  const end = source.indexOf("\r\n\r\n")
  const lines = source
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, " ")
    .split("\r\n")
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(":")).toLowerCase(),
      decodedHeader(line.slice(line.indexOf(":") + 1).trim())
    ])
  )
  const text = decodedBody(source.slice(end + 4), headers["content-transfer-encoding"])
  return { headers, text: text.replaceAll("\r\n", "\n").trimEnd() }
}

/** Runs until the scope closes. */
export const startMailServer = Effect.fnUntraced(function* (options: MailServerOptions = {}) {
  const { certificate, host = "127.0.0.1", isTls = false, login, refusal, reply } = options
  const mails: Array<ReceivedMail> = []
  const logins: Array<{ readonly password: string; readonly isSecure: boolean }> = []
  let attempts = 0
  const server = new SMTPServer({
    ...certificate,
    secure: isTls,
    logger: false,
    closeTimeout: 1,
    disableReverseLookup: true,
    allowInsecureAuth: true,
    authOptional: login === undefined,
    disabledCommands: [...(login === undefined ? ["AUTH"] : []), ...(certificate === undefined ? ["STARTTLS"] : [])],
    onAuth: ({ password, username }, { secure }, done) => {
      logins.push({ password: password ?? "", isSecure: secure })
      if (username === login?.user && password === login?.password) done(null, { user: username })
      else done(refusalOf(535))
    },
    onRcptTo: ({ address }, _, done) => {
      const status = refusal?.(address)
      done(status === undefined ? null : refusalOf(status))
    },
    onData: (stream, { envelope: { mailFrom, rcptTo }, secure, user }, done) =>
      readAll(stream, (source) => {
        attempts += 1
        const status = reply?.(attempts)
        if (status === "never") return
        if (status !== undefined) return done(refusalOf(status))
        mails.push({
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          isSecure: secure,
          ...(typeof user === "string" ? { user } : {}),
          ...parse(source)
        })
        done()
      })
  })
  // The server has not failed when a client breaks the connection off.
  server.on("error", () => undefined)
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, host, resolve))),
    () => Effect.promise(() => new Promise<void>((resolve) => server.close(resolve)))
  )
  const address = server.server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return { port, mails, logins, attempts: () => attempts } satisfies MailServerHandle as MailServerHandle
})
