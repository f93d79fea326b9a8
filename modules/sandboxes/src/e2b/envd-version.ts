/**
 * Version of the data plane that clients are told. They offer features by it: a default user that the server chooses
 * from 0.4.0, uploads of raw bytes from 0.5.7, file metadata from 0.6.2, entries in changes from 0.6.3.
 */
export const ENVD_VERSION = '0.6.4';
