/** The version of an object that was stored while its bucket kept no versions. */
export const NULL_VERSION = 'null';

/** True for what can be the id of a version here. Anything else is a mistake, not a version that is gone. */
export function isVersionId(text: string): boolean {
  return text === NULL_VERSION || VERSION_ID.test(text);
}

const VERSION_ID = /^[0-9a-z]{11}[0-9A-Za-z]+$/;
