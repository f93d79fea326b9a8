import { classNames } from './class-names.ts';
import styles from './monogram.module.css';

export interface MonogramProps {
  name: string;
  /** Determines the tint; should be stable when the name changes. */
  seed: string;
  size?: 'normal' | 'large';
  shape?: 'square' | 'round';
}

const TINTS = 6;

/** Placeholder for an image. Hidden from screen readers, since the name is next to it. */
export function Monogram({ name, seed, size = 'normal', shape = 'square' }: MonogramProps) {
  const tint = [...seed].reduce((sum, char) => (sum * 31 + (char.codePointAt(0) ?? 0)) % 9973, 7) % TINTS;
  return (
    <span
      aria-hidden="true"
      className={classNames(
        styles['monogram'],
        styles[`tint${tint}`],
        size === 'large' && styles['large'],
        shape === 'round' && styles['round'],
      )}
    >
      {([...name.trim()][0] ?? '?').toUpperCase()}
    </span>
  );
}
