import { parentPort, workerData } from 'node:worker_threads';
import { inspectManifest } from './inspect.ts';

/** Run in a thread of its own for large manifests: parsing a megabyte takes seconds, and a hostile one more. */
parentPort?.postMessage(inspectManifest(String(workerData)));
