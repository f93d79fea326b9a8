import { progressMessage, type ImageProgress } from '../domain/images/progress.ts';

/** Renders image progress for callers; null if the image is not being prepared. */
export function toProgressView(progress: ImageProgress | null) {
  if (progress === null) return null;
  return {
    stage: progress.stage,
    message: progressMessage(progress),
    source: progress.source,
    layers: progress.layers,
    layers_done: progress.layersDone,
    bytes: progress.bytes,
    bytes_done: progress.bytesDone,
  };
}
