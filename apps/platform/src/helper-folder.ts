import { fileURLToPath } from 'node:url';

/** The binaries of the sandboxes' helper come with the project. */
export const HELPER_FOLDER = fileURLToPath(new URL('../../../native/sandbox-agent/bin', import.meta.url));
