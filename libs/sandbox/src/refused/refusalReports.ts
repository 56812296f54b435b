/**
 * Reports about commands, on a socket for each workspace: the program that runs a command in the sandbox sends what the command said
 * of files that it may not write, and that it may have made a repository, and waits for the words that its agent is to read.
 */
import type { Socket } from "node:net"
import type { Decider, RefusedWrite } from "./decider.ts"
import { refusedPathsIn } from "./refusedPaths.ts"

export interface Reports {
  /** Undefined: the sandbox does not refuse it. */
  readonly look: (path: string) => Promise<Omit<RefusedWrite, "failed"> | undefined>
  /** Absent: nobody wants to know. */
  readonly decider: () => Decider | undefined
  /** Puts aside repositories that a command made with a configuration of their own, and says so. Rejected where it cannot. */
  readonly putAsideNested: () => Promise<ReadonlyArray<string>>
}

/** The first word of a text, after which a repository may have been made. */
export const madeRepository = "repository"

/** More of one command is not looked at. */
const mostBytes = 64 * 1024

const wordsFor = async (
  { decider, look }: Reports,
  { failed, path }: { readonly failed: boolean; readonly path: string }
): Promise<string> => {
  const refused = await look(path)
  const decision = refused === undefined ? undefined : await decider()?.write({ ...refused, failed })
  if (decision === "allowed") return `reprise: commands may write in ${refused?.place} now. Run the command again.\n`
  if (decision !== "rejected") return ""
  return `reprise: ${path} may not be written from the sandbox. sandbox.write names what may.\n`
}

/** `text`: a line with `repository` or nothing, the exit code of a command in one, what it said. Gives lines for its agent. */
const reply = async (reports: Reports, text: string): Promise<string> => {
  const [made = "", status = "", ...lines] = text.split("\n")
  const failed = status !== "0"
  // Its agent made what cannot be looked at, and can remove it.
  const aside =
    made === madeRepository
      ? await reports
          .putAsideNested()
          .catch((error: unknown) => [error instanceof Error ? error.message : String(error)])
      : []
  const words: Array<string> = aside.map((sentence) => `reprise: ${sentence}\n`)
  for (const path of refusedPathsIn(lines.join("\n"))) words.push(await wordsFor(reports, { path, failed }))
  return words.join("")
}

export const attend = (client: Socket, reports: Reports): void => {
  let text = Buffer.alloc(0)
  client.on("data", (chunk: Buffer) => {
    if (text.length < mostBytes) text = Buffer.concat([text, chunk])
  })
  client.once("end", () => {
    reply(reports, text.subarray(0, mostBytes).toString("utf8")).then(
      (words) => client.end(words),
      () => client.destroy()
    )
  })
}
