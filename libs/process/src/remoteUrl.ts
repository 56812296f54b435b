/** Which addresses of git servers Reprise takes. Pure. */

const schemes = /^(https|ssh|file):\/\//
/** `user@host:path`, as `git clone` takes it. What begins with a dash is an option to programs. */
const shortSsh = /^\w[\w.-]*@\w[\w.-]*:[^:]/

/**
 * What is wrong with the address of a git remote, as the predicate of a sentence with the next step; undefined: nothing.
 * A password in it would be stored with the run and shown, and git has transports that run any command.
 *
 * @example remoteProblem("ext::sh -c id") // "is not the address of a git server: …"
 */
export const remoteProblem = (url: string): string | undefined => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (/[\s\u0000-\u001f\u007f]/.test(url))
    return "contains a space or a control character. Write such characters as %20."
  // Git reads what stands before it as a login, where others read a server.
  if (url.includes("\\")) return "contains a backslash. Write it as %5C."
  if (shortSsh.test(url)) return undefined
  if (url.startsWith("http://")) return "is not encrypted. Use https:// or ssh://."
  if (!schemes.test(url) || !URL.canParse(url)) {
    return "is not the address of a git server. Use https://HOST/PATH, ssh://USER@HOST/PATH, USER@HOST:PATH or file:///PATH."
  }
  const { hostname, password, protocol, username } = new URL(url)
  if (password !== "" || (protocol === "https:" && username !== "")) {
    return "contains a login. Leave it out, and let the host have it in a file (REPRISE_GIT_CREDENTIALS_FILE)."
  }
  if (username.startsWith("-")) return "has a user whose name begins with a dash."
  if (protocol !== "file:" && !/^[\w[]/.test(hostname)) return "names no server."
  return undefined
}

/**
 * The address for people and logs: without a login that somebody has put into it. Where readers could differ about the
 * end of the login, more is left out.
 */
export const withoutLogin = (url: string): string =>
  url.replace(
    URL.canParse(url) && !url.includes("\\") ? /^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i : /^([a-z][a-z0-9+.-]*:\/\/).*@/is,
    "$1…@"
  )
