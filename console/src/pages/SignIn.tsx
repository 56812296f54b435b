/** Asks for the token, when the link did not bring it or the session has ended. */
import type { ConsoleSession } from "@reprise/protocol"
import { type FormEvent, useState } from "react"
import { signIn } from "../data/api.ts"
import { Failed } from "../parts/Notice.tsx"
import { usePlainTitle } from "../parts/title.ts"

export function SignIn({
  failed,
  onSignedIn
}: {
  readonly failed?: Error | undefined
  readonly onSignedIn: (session: ConsoleSession) => void
}) {
  const [error, setError] = useState(failed)
  usePlainTitle("Sign in")
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const token = new FormData(event.currentTarget).get("token")
    signIn(typeof token === "string" ? token.trim() : "").then(onSignedIn, setError)
  }
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col justify-center gap-4 px-4">
      <h1 className="text-xl">Sign in to Reprise</h1>
      <p>
        Open the link that <code>reprise up --web</code> prints, or paste the token from{" "}
        <code>.reprise/console.token</code> of the repository.
      </p>
      <form className="space-y-3" onSubmit={submit}>
        <label className="block">
          <span className="text-sm">Token</span>
          <input
            autoComplete="off"
            className="border-line bg-card text-strong mt-1 block min-h-11 w-full rounded-md border px-3"
            name="token"
            required
            type="password"
          />
        </label>
        {error !== undefined && <Failed error={error} what="Not signed in" />}
        <button className="bg-accent text-on-accent min-h-11 w-full rounded-md px-4 font-medium" type="submit">
          Sign in
        </button>
      </form>
    </main>
  )
}
