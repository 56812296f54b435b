/** A server of somebody else on another port of this machine, whose page tries to get at a web console. */
import { createServer, type IncomingHttpHeaders } from "node:http"
import { Effect } from "effect"

/**
 * What a page can try in a browser that is signed in to the console. Whatever it could read is in `gained`; its title is
 * `tried` in the end, and the window that it has opened stays open.
 */
const attack = (console: string) => `<!doctype html><title>trying</title><body><script type="module">
  const console = ${JSON.stringify(console)}
  globalThis.gained = []
  globalThis.tries = 0
  const attempt = async (name, does) => {
    tries += 1
    const got = await does().catch(() => "")
    if (got !== "") gained.push(name + " got " + got)
  }
  const loaded = (element) =>
    new Promise((resolve) => {
      element.onload = element.onerror = resolve
      document.body.append(element)
    })
  for (const path of ["session", "questions", "questions/secret-e1", "runs", "runs/secret/events", "settings"]) {
    const url = console + "/api/" + path
    for (const mode of ["cors", "no-cors", "same-origin"])
      await attempt(mode + " " + path, async () => (await fetch(url, { mode, credentials: "include" })).text())
    await attempt("script " + path, async () => {
      let error = ""
      window.onerror = (message) => { error = message }
      await loaded(Object.assign(document.createElement("script"), { src: url }))
      return error
    })
  }
  await attempt("header", async () =>
    (await fetch(console + "/api/questions", { headers: { "x-reprise-session": "guess" } })).text())
  await attempt("event stream", () => new Promise((resolve) => {
    const source = new EventSource(console + "/api/events", { withCredentials: true })
    source.addEventListener("connected", () => resolve("connected"))
    source.onerror = () => { if (source.readyState === 2) resolve("") }
  }))
  await attempt("answer", async () =>
    (await fetch(console + "/api/questions/secret-e1/answer", {
      method: "POST", credentials: "include", body: '{"commandId":"forged","choice":"fix"}'
    })).text())
  await attempt("frame", async () => {
    const frame = Object.assign(document.createElement("iframe"), { src: console + "/" })
    await loaded(frame)
    return frame.contentWindow.document.body.innerText + frame.contentWindow.localStorage.length
  })
  await attempt("storage", async () => Object.values(localStorage).join())
  await attempt("window", async () => {
    const opened = window.open(console + "/")
    // Reading the address throws as soon as the console's page is there.
    while (!opened.closed && opened.location.href === "about:blank") await fetch("/waits")
    return opened.closed ? "" : opened.document.body.innerText + opened.localStorage.length
  })
  for (let n = 0; n < 200; n++) document.cookie = "c" + n + "=x"
  document.title = "tried"
</script>`

/** Until the scope closes. `received`: the headers that browsers have sent it. */
export const startOtherPort = (console: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const received: Array<IncomingHttpHeaders> = []
      const name = `reprise-${new URL(console).port}`
      const server = createServer(({ headers }, response) => {
        received.push(headers)
        // What the console might take for its own.
        response.setHeader("set-cookie", [`${name}=x; Path=/`, `${name}=y; Path=/api`, "session=z; Path=/"])
        response.setHeader("content-type", "text/html").end(attack(console))
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const bound = server.address()
      return { port: typeof bound === "object" ? bound?.port : undefined, received, server }
    }),
    ({ server }) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  ).pipe(Effect.map(({ port, received }) => ({ address: `http://127.0.0.1:${port}`, received })))
