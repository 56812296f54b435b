/** What the log of a NATS server says that it has refused. */

/**
 * The right to answer a request belongs to the connection that it came over. An answer that was being made when that ended,
 * as with its server, is refused on the next one, and whoever asked asks again.
 */
const isAnswerOfEndedConnection = (line: string): boolean => /Publish Violation - .* Subject "_INBOX[_.]/.test(line)

export const refusalsIn = (log: string): ReadonlyArray<string> =>
  (log.match(/.*(?:Violation|authentication error).*/g) ?? []).filter((line) => !isAnswerOfEndedConnection(line))
