import styles from './kbd.module.css';

/** Keyboard keys, such as `['g', 'o']` for a sequence. */
export function Keys({ keys }: { keys: readonly string[] }) {
  return (
    <span className={styles['keys']}>
      {keys.map((key) => (
        <kbd key={key} className={styles['key']}>
          {key}
        </kbd>
      ))}
    </span>
  );
}
