import Bluetooth
import Conformance
import Emulator
import Sesame
import Basics
import TestSupport
import Testing

@Suite("An emulated lock's options")
struct LockOptionTests {
  @Test("each value of an option does what its sentence says", arguments: lockOptionEffects)
  private func effect(of effect: LockOptionEffect) throws {
    let option = try #require(LockOption.named(effect.option))
    expect(effect.traces.first?.value, option.usual)
    for (value, trace) in effect.traces {
      var probe = LockProbe(
        effect.model, ["\(effect.option)=\(value)"], registered: effect.registered)
      expect(["\(value):"] + effect.script(&probe), ["\(value):"] + trace)
    }
  }

  @Test("every option has an effect that is tested, a sentence, and a value that can be set again")
  func complete() throws {
    for option in LockOption.all {
      #expect(lockOptionEffects.contains { $0.option == option.name }, "\(option.name)")
      expect(option.sentence.last, ".")
      let models = lockOptionEffects.filter { $0.option == option.name }.map(\.model)
      #expect(
        option.generation == nil || models.allSatisfy { $0.generation == option.generation }, "\(option.name)"
      )
      var options = LockOptions()
      try options.set(option.name, to: option.usual)
      expect(options, LockOptions())
      for choice in option.choices { try options.set(option.name, to: choice) }
    }
    expect(Set(LockOption.all.map(\.name)).count, LockOption.all.count)
  }

  @Test(
    "what is not understood is said, with what was likely meant",
    arguments: [
      ("wrong-logn=silent", "there is no setting 'wrong-logn'; did you mean 'wrong-login'?"),
      ("xyzzy=1", "there is no setting 'xyzzy'"),
      (
        "wrong-login=silence",
        "'silence' is not a value of 'wrong-login', which takes disconnect, silent, result; did you mean 'silent'?"
      ),
      ("motor=1", "'1' is not a value of 'motor', which takes a time from 1 ms to 1 min, such as 250 ms"),
      ("motor=0 s", "'0 s' is not a value of 'motor', which takes a time from 1 ms to 1 min, such as 250 ms"),
      ("battery=nan", "'nan' is not a value of 'battery', which takes a number of volts from 0.0 to 7.2"),
      ("epoch", "'' is not a value of 'epoch', which takes a number of seconds from 0 to 4294967295"),
    ])
  func errors(setting: String, message: String) {
    do throws(LockOptionError) {
      _ = try LockOptions([setting])
      Issue.record("\(setting) was taken")
    } catch {
      expect(error.description, message)
    }
  }

  @Test("a specification takes options, several defects and the channel conditions")
  func specification() throws {
    let specification = try EmulatedLockSpecification(
      parsing: "sesame5pro",
      settings: [
        ("defect", "deaf-unlock"), ("loss", "0.25"), ("defect", "token-repeated"), ("motor", "250 ms"),
        ("link-loss", "1"),
      ])
    var options = LockOptions()
    options.motor = .milliseconds(250)
    expect(
      specification,
      EmulatedLockSpecification(
        .sesame5Pro, options: options, defects: [.deafUnlock, .tokenRepeated],
        channel: ChannelConditions(loss: 0.25, linkLoss: 1)))
    expect(specification.model, .sesame5Pro)
  }

  @Test("a lock that is driven as a real one is on the air, and is found somehow")
  func realLock() throws {
    let real = try EmulatedLockSpecification(
      parsing: "sesame3", settings: [("as", "real"), ("found", "moved")])
    expect(real.role, .real)
    expect(real.link, .radio)
    expect(real.found.condition, StartCondition([Argument("bolt", .text("moved"))]))
    expect(try EmulatedLockSpecification(parsing: "sesame3", settings: [("as", "emulated")]).link, .direct)
  }

  @Test(
    "a specification that is not understood is told why",
    arguments: [
      ("sesam5", [], "there is no emulated lock 'sesam5'; did you mean 'sesame5'?"),
      ("sesame5", [("defects", "x")], "there is no setting 'defects'; did you mean 'defect'?"),
      (
        "sesame5", [("as", "reel")],
        "'reel' is not a value of 'as', which takes emulated, real; did you mean 'real'?"
      ),
      (
        "sesame5", [("link", "direct"), ("as", "real")],
        "'direct' is not a value of 'link', which takes radio, with as=real"
      ),
      (
        "sesame5", [("found", "moved")],
        "'moved' is not a value of 'found', which takes another than locked with as=real only"
      ),
      (
        "sesame5", [("link", "radio"), ("burst-gap", "1 s")],
        "'burst-gap' has no effect without 'burst-loss'"
      ), ("sesame5", [("burst-loss", "1")], "'burst-loss' has no effect without 'link=radio'"),
      (
        "sesame5", [("burst-length", "2 h")],
        "'2 h' is not a value of 'burst-length', which takes a time from 1 ms to 1 h, such as 250 ms"
      ),
      (
        "sesame3", [("short-registration", "refused")],
        "'short-registration' has no effect: it is a setting of OS3 locks"
      ),
      ("sesame5pro", [("er-length", "32")], "'er-length' has no effect: it is a setting of OS2 locks"),
      ("sesame5", [("loss", "2")], "'2' is not a value of 'loss', which takes a probability from 0 to 1"),
    ] as [(String, [(String, String)], String)])
  func specificationErrors(name: String, settings: [(String, String)], message: String) {
    do throws(LockOptionError) {
      _ = try EmulatedLockSpecification(parsing: name, settings: settings.map { (name: $0.0, value: $0.1) })
      Issue.record("it was taken")
    } catch {
      expect(error.description, message)
    }
  }
}
