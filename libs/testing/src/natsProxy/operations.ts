/** Names for what passes between a client and a server: the same for the same kind of request, whatever its ids are. */

const apiVerbs: ReadonlyArray<{ readonly start: string; readonly kept: number }> = [
  { start: "$JS.API.CONSUMER.MSG.NEXT.", kept: 7 },
  { start: "$JS.API.CONSUMER.DURABLE.CREATE.", kept: 7 },
  { start: "$JS.API.CONSUMER.", kept: 6 },
  { start: "$JS.API.STREAM.MSG.", kept: 6 },
  { start: "$JS.API.STREAM.", kept: 5 },
  { start: "$JS.API.DIRECT.GET.", kept: 5 },
  { start: "$JS.API.", kept: 4 },
  { start: "$JS.ACK.", kept: 4 },
  { start: "$KV.", kept: 2 },
  { start: "$O.", kept: 3 },
  { start: "_INBOX", kept: 1 }
]

/** Of a message of Reprise: its prefix, its kind, and the kind of actor or service. */
const tokensOfMessages = 3

/** The server's and the client's random names: of consumers for one reader, and of inboxes. */
const isRandom = (token: string) => /^(?:oc_|ordered_)?[A-Za-z0-9]{20,}(?:_\d+)?$/.test(token)

/** A subject without the keys and the random names in it. */
export const operationOf = (subject: string): string => {
  const tokens = subject.split(".")
  const kept = apiVerbs.find(({ start }) => subject.startsWith(start))?.kept ?? tokensOfMessages
  return tokens
    .slice(0, kept)
    .map((token) => (isRandom(token) ? "*" : token))
    .join(".")
}
