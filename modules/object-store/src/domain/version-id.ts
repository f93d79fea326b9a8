/** The version of an object stored while its bucket was not versioned. */
export const NULL_VERSION = 'null';

/** Whether the text can be a version id. Anything else is invalid, rather than a version that no longer exists. */
export function isVersionId(text: string): boolean {
  return text === NULL_VERSION || VERSION_ID.test(text);
}

const VERSION_ID = /^[0-9a-z]{11}[0-9A-Za-z]+$/;
