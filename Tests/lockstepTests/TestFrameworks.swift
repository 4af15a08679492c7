/// Small scenarios for those that have others run them.
enum TestFrameworks {
  /// A lock that says each status too late.
  static let broken = "emulator:sesame5?defect=status-lags-one-behind"

  /// A lock that says each status too late fails it at its seventh step, in line 12.
  static let unlock = """
    scenario: An unlock is told
    machine: sesame
    device: { lock: sesame5, registered: true, configured: true }
    tags: [smoke, two words]
    steps:
      - closeTo
      - connect
      - expect: { status: [locked, unlocked, moved], within: 15 s }
      - lock
      - expect: { status: locked, within: 5 s }
      - unlock
      - expect: { status: unlocked, within: 5 s }

    """
  /// Each lock passes it.
  static let lock = """
    scenario: A lock is found
    machine: sesame
    device: { lock: sesame5, registered: true, configured: true }
    steps:
      - closeTo
      - expect: { status: receivedBle, within: 5 s }

    """
  /// Nothing but a door can do it.
  static let door = """
    scenario: A door opens
    machine: door
    device: door
    steps:
      - Open
      - expect: { status: Opened }

    """
  /// A program as a door that does not open the first time it is asked, in the folder in which it runs.
  static let flakyDoor = """
    while read -r line; do
      case $line in
        *reset*) echo '{"status":"Closed"}' ;;
        *Open*) if [ -e opened ]; then echo '{"status":"Opened"}'; else touch opened; fi ;;
      esac
      echo '{"settled":true}'
    done

    """
}
