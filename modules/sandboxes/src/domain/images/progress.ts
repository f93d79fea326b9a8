/** Progress of preparing an image. */
export interface ImageProgress {
  readonly stage: 'resolving' | 'downloading' | 'unpacking' | 'building';
  /** The source being tried, for people. */
  readonly source: string;
  readonly layers: number;
  readonly layersDone: number;
  /** Compressed bytes to download and downloaded so far; 0 if nothing is downloaded. */
  readonly bytes: number;
  readonly bytesDone: number;
}

/** Called for every change of the progress. */
export type ProgressListener = (progress: ImageProgress) => void;

/** Tracks the progress of one preparation. */
export class ProgressBoard {
  readonly #listener: ProgressListener;
  #current: ImageProgress;
  readonly #layerBytes = new Map<string, number>();

  constructor(listener: ProgressListener) {
    this.#listener = listener;
    this.#current = { stage: 'resolving', source: '', layers: 0, layersDone: 0, bytes: 0, bytesDone: 0 };
  }

  get current(): ImageProgress {
    return this.#current;
  }

  begin(source: string, stage: ImageProgress['stage']): void {
    this.#layerBytes.clear();
    this.#set({ stage, source, layers: 0, layersDone: 0, bytes: 0, bytesDone: 0 });
  }

  expect(layers: number, bytes: number): void {
    this.#set({ ...this.#current, stage: 'downloading', layers, bytes });
  }

  /** Sets the number of downloaded bytes of one layer. */
  downloaded(layer: string, bytes: number): void {
    this.#layerBytes.set(layer, bytes);
    const bytesDone = this.#layerBytes.values().reduce((sum, each) => sum + each, 0);
    this.#set({ ...this.#current, stage: bytesDone < this.#current.bytes ? 'downloading' : 'unpacking', bytesDone });
  }

  layerDone(): void {
    this.#set({ ...this.#current, layersDone: this.#current.layersDone + 1 });
  }

  #set(progress: ImageProgress): void {
    this.#current = progress;
    this.#listener(progress);
  }
}

/** One sentence for people who wait for a sandbox. */
export function progressMessage(progress: ImageProgress): string {
  const { stage, source, layers, layersDone, bytes, bytesDone } = progress;
  const share = bytes === 0 ? '' : `: ${Math.floor((100 * bytesDone) / bytes)}% of ${megabytes(bytes)} MB`;
  const counted = layers === 0 ? '' : `, ${layersDone} of ${layers} layers done`;
  return `${STAGE_VERBS[stage]} the image from ${source}${share}${counted}. Only the first sandbox of an image waits for this.`;
}

const STAGE_VERBS: Readonly<Record<ImageProgress['stage'], string>> = {
  resolving: 'Looking up',
  downloading: 'Downloading',
  unpacking: 'Unpacking',
  building: 'Building',
};

/** One line for people. */
export function describeProgress({ stage, source, layers, layersDone, bytes, bytesDone }: ImageProgress): string {
  const percent = bytes === 0 ? '' : `, ${Math.floor((100 * bytesDone) / bytes)} % of ${megabytes(bytes)} MB`;
  const counted = layers === 0 ? '' : `, ${layersDone} of ${layers} layers done`;
  return `${stage} from ${source}${percent}${counted}`;
}

/** Explains to a waiting caller why the wait ended. */
export function stillPreparing(progress: ImageProgress | null): string {
  const state = progress === null ? '' : ` (${describeProgress(progress)})`;
  return `it is still being prepared${state}; try again`;
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}
