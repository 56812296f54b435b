/** What makes a command from the command line one command, however often it has to be sent. */
import { randomUUID } from "node:crypto"

/** Made once per invocation: the broker drops what it has already, and what became of it is found whenever it was told. */
export interface Letter {
  readonly id: string
  /** ISO time from which to look for the outcome. */
  readonly since: string
}

export const newLetter = (purpose: string): Letter => ({
  id: `${purpose}-${randomUUID()}`,
  since: new Date(Date.now() - 1000).toISOString()
})
