/**
 * Answers programs of commands about protected folders, over a socket of this process: before a command they ask for copies of what
 * has changed, and after it for what is to be done where a folder is another one.
 */
import type { Socket } from "node:net"
import { basename, join } from "node:path"
import { readRecord } from "../command/records.ts"
import { holdAgain, type Replaced, settleFolders } from "./heldFolders.ts"

export interface FolderKeeper {
  /** Of what commands said. */
  readonly folder: string
  readonly refused: string
  /** For the log. */
  readonly tell: (replaced: ReadonlyArray<Replaced>) => Promise<void>
}

/** The first line of what a program asks: the others are paths, or the name of its record. */
export const holdRequest = "hold"
export const settleRequest = "settle"

/** The last word of an answer: without it nothing is settled. */
export const settledAnswer = "settled"

/** For the agent. */
const sentenceOf = ({ isBack, path }: Replaced) =>
  `reprise: ${path} was replaced while a command ran that could have written it then; it was moved to .reprise/sandbox/refused${isBack ? ", and the one from before is back" : ". There is no copy of the one from before"}.\n`

const mostBytes = 1024 * 1024

const reply = async ({ folder, refused, tell }: FolderKeeper, text: string): Promise<string> => {
  const [request, ...words] = text.split("\n").filter((line) => line !== "")
  if (request === holdRequest) await holdAgain(folder, words)
  if (request !== settleRequest) return ""
  const record = join(folder, basename(words[0] ?? ""))
  const replaced = await settleFolders(record, await readRecord(record), refused)
  if (replaced.length > 0) await tell(replaced)
  return [...replaced.map(sentenceOf), settledAnswer].join("")
}

export const attendFolders = (client: Socket, keeper: FolderKeeper): void => {
  let text = Buffer.alloc(0)
  client.on("data", (chunk: Buffer) => {
    if (text.length < mostBytes) text = Buffer.concat([text, chunk])
  })
  client.once("end", () => {
    reply(keeper, text.toString("utf8")).then(
      (words) => client.end(words),
      () => client.destroy()
    )
  })
}
