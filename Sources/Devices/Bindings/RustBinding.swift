extension Binding {
  /// One module without dependencies.
  static let rust = #"""
    //! A program as a device for Lockstep: what it does is yours, and the lines between the two are here.
    //!
    //! ```ignore
    //! mod lockstep_device;
    //! use lockstep_device::{Answer, Device, Hello, Lock, Values};
    //!
    //! struct Door { is_open: bool }
    //!
    //! impl Lock for Door {
    //!     fn hello(&self) -> Hello {
    //!         Hello { name: "door", is_virtual: true, stimuli: &["Open"], ..Hello::default() }
    //!     }
    //!     fn reset(&mut self, _start: &Values, device: &mut Device) -> Answer {
    //!         self.is_open = false;
    //!         device.show("Closed");
    //!         Ok(())
    //!     }
    //!     fn stimulus(&mut self, _name: &str, _arguments: &Values, device: &mut Device) -> Answer {
    //!         if self.is_open { return Err("it is open".into()); }
    //!         self.is_open = true;
    //!         device.show("Opened");
    //!         device.after(5.0, "shut");          // it shuts by itself
    //!         Ok(())
    //!     }
    //!     fn timer(&mut self, _name: &str, device: &mut Device) {
    //!         self.is_open = false;
    //!         device.show("Closed");
    //!     }
    //! }
    //!
    //! fn main() { lockstep_device::run(Door { is_open: false }) }
    //! ```
    //!
    //! In virtual time a program has no clock: `device.now()` is what Lockstep says, and `device.after` is all there is to
    //! time; draw chances from `device.seed()`. Otherwise the same program lives by the clock. Print with `eprintln!`, never with
    //! `println!`: what comes between the lines is no answer.
    //!
    //! One module, without dependencies. The protocol is on the page "A lock as one program".

    #![allow(dead_code)]

    use std::collections::BTreeMap;
    use std::io::{Read, Write};
    use std::sync::mpsc;
    use std::time::{Duration, Instant};

    /// Done, or refused, and why.
    pub type Answer = Result<(), String>;

    /// A value of an argument, a setting or a fault.
    #[derive(Clone, Debug, PartialEq)]
    pub enum Value {
        Flag(bool),
        Number(f64),
        /// A number without decimals, from zero on.
        Whole(u64),
        Text(String),
        Values(Values),
        Nothing,
    }

    /// Values by name.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Values(BTreeMap<String, Value>);

    impl Values {
        /// The value of a name, if it is there.
        pub fn get(&self, name: &str) -> Option<&Value> {
            self.0.get(name)
        }
        /// A text; `other` where there is none of the name.
        pub fn text<'a>(&'a self, name: &str, other: &'a str) -> &'a str {
            if let Some(Value::Text(text)) = self.get(name) { text } else { other }
        }
        /// A number.
        pub fn number(&self, name: &str, other: f64) -> f64 {
            match self.get(name) {
                Some(Value::Number(number)) => *number,
                Some(Value::Whole(number)) => *number as f64,
                _ => other,
            }
        }
        /// True or false.
        pub fn flag(&self, name: &str, other: bool) -> bool {
            if let Some(Value::Flag(flag)) = self.get(name) { *flag } else { other }
        }
    }

    /// What a device says that it is.
    #[derive(Clone, Copy, Default)]
    pub struct Hello {
        pub name: &'static str,
        /// Whether it has no clock.
        pub is_virtual: bool,
        /// What it understands.
        pub stimuli: &'static [&'static str],
        /// More of what it says of itself, as JSON: `"faults":{"jam":[true,false]},"readings":["battery"]`.
        pub more: &'static str,
    }

    /// What a user's program does.
    pub trait Lock {
        fn hello(&self) -> Hello;
        /// A test begins.
        fn reset(&mut self, start: &Values, device: &mut Device) -> Answer;
        fn stimulus(&mut self, name: &str, arguments: &Values, device: &mut Device) -> Answer;
        /// A timer of [`Device::after`] has run out.
        fn timer(&mut self, _name: &str, _device: &mut Device) {}
        fn fault(&mut self, name: &str, _value: &Value, _device: &mut Device) -> Answer {
            Err(format!("there is no fault '{name}'"))
        }
    }

    /// What is later never comes.
    const FARTHEST: f64 = 4e9;

    struct Timer {
        due: i64,
        number: u64,
        name: &'static str,
    }

    /// What a lock shows itself by, and what it knows the time from.
    pub struct Device {
        is_virtual: bool,
        // Whole nanoseconds: added up in floating point, a timer would miss its moment by nothing.
        now: i64,
        epoch: Instant,
        seed: u64,
        timers: Vec<Timer>,
        numbers: u64,
        is_advancing: bool,
        has_shown: bool,
        lines: String,
    }

    impl Device {
        /// The seconds since the test began.
        pub fn now(&self) -> f64 {
            self.time() as f64 / 1e9
        }
        /// The seed of the test, from which all chances are to follow.
        pub fn seed(&self) -> u64 {
            self.seed
        }
        /// Calls [`Lock::timer`] later; the number that comes back calls it off.
        pub fn after(&mut self, seconds: f64, name: &'static str) -> u64 {
            self.numbers += 1;
            let due = self.time() + (seconds.clamp(0.0, FARTHEST) * 1e9).round() as i64;
            self.timers.push(Timer { due, number: self.numbers, name });
            self.numbers
        }
        /// Calls a timer off; does nothing when it is over.
        pub fn cancel(&mut self, number: u64) {
            self.timers.retain(|timer| timer.number != number);
        }
        /// Shows a status.
        pub fn show(&mut self, status: &str) {
            self.shown("status", &quoted(status), "");
        }
        /// Shows an effect of the machine.
        pub fn effect(&mut self, name: &str) {
            self.shown("effect", &quoted(name), "");
        }
        /// Shows a value.
        pub fn reading(&mut self, name: &str, value: &Value) {
            let value = match value {
                Value::Flag(flag) => flag.to_string(),
                Value::Number(number) if number.is_finite() => number.to_string(),
                Value::Whole(number) => number.to_string(),
                Value::Text(text) => quoted(text),
                _ => quoted("not a number"),
            };
            self.shown("reading", &format!("{{{}:{value}}}", quoted(name)), "");
        }
        /// Reports an event that happened to it, such as a lost link.
        pub fn event(&mut self, name: &str, detail: &str) {
            self.shown("event", &quoted(name), detail);
        }
        /// Says that a rule of a protocol was broken, which ends the test.
        pub fn violation(&mut self, rule: &str, detail: &str) {
            self.shown("violation", &quoted(rule), detail);
        }
        /// Says something to people.
        pub fn log(&mut self, text: &str) {
            self.lines += &format!("{{\"log\":{}}}\n", quoted(&text.chars().take(8000).collect::<String>()));
        }

        fn shown(&mut self, kind: &str, value: &str, detail: &str) {
            self.lines += &format!("{{\"{kind}\":{value}");
            if !detail.is_empty() {
                self.lines += &format!(",\"detail\":{}", quoted(detail));
            }
            if self.is_advancing {
                self.lines += &format!(",\"at\":{}", seconds(self.now));
            }
            self.lines += "}\n";
            self.has_shown = true;
        }
        fn time(&self) -> i64 {
            if self.is_virtual { self.now } else { self.epoch.elapsed().as_nanos() as i64 }
        }
        /// The place of the timer that is due first, of several the one that was set first.
        fn next(&self) -> Option<usize> {
            (0..self.timers.len()).min_by_key(|&place| (self.timers[place].due, self.timers[place].number))
        }
        fn due(&self) -> Option<i64> {
            self.next().map(|place| self.timers[place].due)
        }
        fn fire(&mut self, lock: &mut impl Lock, limit: i64) {
            while let Some(place) = self.next() {
                if self.timers[place].due > limit {
                    break;
                }
                let timer = self.timers.swap_remove(place);
                lock.timer(timer.name, self);
            }
        }
        /// Lets time pass, up to the first moment at which something is shown.
        fn advance(&mut self, lock: &mut impl Lock, limit: i64) {
            (self.is_advancing, self.has_shown) = (true, false);
            while let (false, Some(due)) = (self.has_shown, self.due()) {
                if due > limit {
                    break;
                }
                self.now = self.now.max(due);
                self.fire(lock, due);
            }
            if !self.has_shown {
                self.now = limit;
            }
            self.is_advancing = false;
        }
        fn flush(&mut self) {
            let mut output = std::io::stdout().lock();
            if output.write_all(self.lines.as_bytes()).and_then(|_| output.flush()).is_err() {
                std::process::exit(1);
            }
            self.lines.clear();
        }
        fn answer(&mut self, lock: &mut impl Lock, line: &str) {
            let Some(Value::Values(request)) = Parser::parse(line) else {
                eprintln!("lockstep_device: this is no request: {line}");
                std::process::exit(1);
            };
            let none = Values::default();
            let values = |name: &str| if let Some(Value::Values(values)) = request.get(name) { values.clone() } else { none.clone() };
            if request.get("at").is_some() {
                self.now = nanoseconds(request.number("at", 0.0));
            }
            // Only a greeting says what the program is to be, where that is no device.
            let is_other = values("hello").get("role").is_some();
            if request.get("hello").is_some() && !is_other {
                self.lines += &said(&lock.hello());
            }
            let mut result = Ok(());
            if is_other {
                result = Err("this program is a device, and is used as a driver or a peripheral".to_string());
            } else if request.get("advance").is_some() {
                self.advance(lock, self.now + nanoseconds(request.number("advance", 0.0)));
            } else {
                result = if let Some(Value::Text(name)) = request.get("stimulus") {
                    if lock.hello().stimuli.is_empty() || lock.hello().stimuli.contains(&name.as_str()) {
                        lock.stimulus(name, &values("arguments"), self)
                    } else {
                        Err(format!("there is no stimulus '{name}'"))
                    }
                } else if let Some(Value::Text(name)) = request.get("fault") {
                    lock.fault(name, request.get("value").unwrap_or(&Value::Flag(true)), self)
                } else if request.get("reset").is_some() {
                    self.timers.clear();
                    (self.now, self.epoch) = (0, Instant::now());
                    self.seed = if let Some(Value::Whole(seed)) = request.get("seed") { *seed } else { 0 };
                    lock.reset(&values("reset"), self)
                } else {
                    Ok(())
                };
                self.fire(lock, self.time());
            }
            self.lines += &match result {
                Ok(()) => "{\"settled\":true".to_string(),
                Err(reason) => format!("{{\"refused\":{}", quoted(&reason)),
            };
            if self.is_virtual {
                self.lines += &format!(",\"next\":{}", self.due().map_or("null".into(), seconds));
            }
            self.lines += "}\n";
            self.flush();
        }
    }

    /// Answers until there is nothing more to answer.
    pub fn run(mut lock: impl Lock) {
        let mut device = Device {
            is_virtual: lock.hello().is_virtual,
            now: 0,
            epoch: Instant::now(),
            seed: 0,
            timers: Vec::new(),
            numbers: 0,
            is_advancing: false,
            has_shown: false,
            lines: String::new(),
        };
        if device.is_virtual {
            read(|line| {
                device.answer(&mut lock, line);
                true
            });
            return;
        }
        // By the clock, lines and timers are waited for at once.
        let (sender, receiver) = mpsc::channel::<String>();
        std::thread::spawn(move || read(|line| sender.send(line.to_string()).is_ok()));
        loop {
            let left = device.due().map(|due| Duration::from_nanos((due - device.time()).max(0) as u64));
            let line = match left {
                Some(left) => receiver.recv_timeout(left),
                None => receiver.recv().map_err(|_| mpsc::RecvTimeoutError::Disconnected),
            };
            match line {
                Ok(line) => device.answer(&mut lock, &line),
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    let now = device.time();
                    device.fire(&mut lock, now);
                    device.flush();
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Hands on each line of the standard input, until it ends or no more are taken.
    fn read(mut take: impl FnMut(&str) -> bool) {
        let (mut pending, mut piece) = (Vec::new(), [0; 65536]);
        while let Ok(count @ 1..) = std::io::stdin().lock().read(&mut piece) {
            pending.extend_from_slice(&piece[..count]);
            while let Some(end) = pending.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = pending.drain(..=end).collect();
                if !take(&String::from_utf8_lossy(&line[..end])) {
                    return;
                }
            }
        }
    }

    fn said(hello: &Hello) -> String {
        let stimuli: Vec<String> = hello.stimuli.iter().map(|name| quoted(name)).collect();
        let time = if hello.is_virtual { "virtual" } else { "real" };
        let mut text = format!("{{\"hello\":{{\"protocol\":2,\"name\":{},\"time\":\"{time}\"", quoted(hello.name));
        if !stimuli.is_empty() {
            text += &format!(",\"stimuli\":[{}]", stimuli.join(","));
        }
        if !hello.more.is_empty() {
            text += &format!(",{}", hello.more);
        }
        text + "}}\n"
    }

    fn nanoseconds(seconds: f64) -> i64 {
        (seconds.clamp(0.0, FARTHEST) * 1e9).round() as i64
    }

    fn seconds(nanoseconds: i64) -> String {
        format!("{}.{:09}", nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000)
    }

    fn quoted(text: &str) -> String {
        let mut quoted = String::from("\"");
        for character in text.chars() {
            match character {
                '"' | '\\' => quoted.extend(['\\', character]),
                '\0'..='\x1F' => quoted += &format!("\\u{:04x}", character as u32),
                _ => quoted.push(character),
            }
        }
        quoted + "\""
    }

    /// Reads one request: objects, texts, numbers, true and false.
    struct Parser<'a> {
        rest: &'a str,
    }

    impl<'a> Parser<'a> {
        fn parse(text: &'a str) -> Option<Value> {
            let mut parser = Parser { rest: text };
            let value = parser.value()?;
            parser.rest.trim().is_empty().then_some(value)
        }
        fn take(&mut self, text: &str) -> bool {
            self.rest = self.rest.trim_start();
            match self.rest.strip_prefix(text) {
                Some(rest) => {
                    self.rest = rest;
                    true
                }
                None => false,
            }
        }
        fn value(&mut self) -> Option<Value> {
            for (word, value) in [("true", Value::Flag(true)), ("false", Value::Flag(false)), ("null", Value::Nothing)] {
                if self.take(word) {
                    return Some(value);
                }
            }
            if self.rest.starts_with('"') {
                return self.text().map(Value::Text);
            }
            if !self.take("{") {
                let end = self.rest.find(|mark: char| !"+-.eE0123456789".contains(mark)).unwrap_or(self.rest.len());
                let (number, rest) = self.rest.split_at(end);
                self.rest = rest;
                return number.parse().map(Value::Whole).or_else(|_| number.parse().map(Value::Number)).ok();
            }
            let mut values = Values::default();
            while !self.take("}") {
                self.take(",");
                self.rest = self.rest.trim_start();
                let name = self.text()?;
                if !self.take(":") {
                    return None;
                }
                values.0.insert(name, self.value()?);
            }
            Some(Value::Values(values))
        }
        fn text(&mut self) -> Option<String> {
            let mut units: Vec<u16> = Vec::new();
            let mut characters = self.rest.strip_prefix('"')?.char_indices();
            let whole = &self.rest[1..];
            while let Some((place, character)) = characters.next() {
                match character {
                    '"' => {
                        self.rest = &whole[place + 1..];
                        return String::from_utf16(&units).ok();
                    }
                    '\\' => {
                        let plain = match characters.next()?.1 {
                            'n' => '\n',
                            't' => '\t',
                            'r' => '\r',
                            'b' => '\u{8}',
                            'f' => '\u{c}',
                            'u' => {
                                let digits: String = (0..4).filter_map(|_| characters.next().map(|item| item.1)).collect();
                                units.push(u16::from_str_radix(&digits, 16).ok()?);
                                continue;
                            }
                            other => other,
                        };
                        units.extend(plain.encode_utf16(&mut [0; 2]).iter());
                    }
                    other => units.extend(other.encode_utf16(&mut [0; 2]).iter()),
                }
            }
            None
        }
    }
    """#
}
