import styles from './kbd.module.css';

/** Keys as they stand on the keyboard, such as `['g', 'o']` for one after the other. */
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
