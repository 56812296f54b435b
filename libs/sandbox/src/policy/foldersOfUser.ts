/** Folders of the user and of git that are listed for what in them must be protected. Reads only. */
import { hasCode, readForeignFolder } from "@reprise/process"

/** Nobody has more in a folder of settings, programs or hooks; to list so many takes a moment. */
const mostEntries = 100_000

/**
 * None where nothing is, no folder is, or this user may not list it, as then no program of this user's can. Rejected with
 * `ForeignFileRefused` where there are more, or where the disk does not answer: nobody knows then what is to be protected.
 */
export const entriesIn = async (folder: string, most = mostEntries) => {
  const entries = await readForeignFolder(folder, { mostEntries: most }).catch((error) =>
    hasCode(error, "ENOTDIR", "EACCES", "EPERM", "ELOOP") ? undefined : Promise.reject(error)
  )
  return entries ?? []
}
